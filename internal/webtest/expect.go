package webtest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// runner runs the cases of one script, in order, against one server.
type runner struct {
	address string
	names   map[string]string
	check   func(method, path string, status int, header http.Header, body []byte) error
}

func newRunner(address string, s *script,
	check func(method, path string, status int, header http.Header, body []byte) error) *runner {
	names := maps.Clone(s.names)
	names["base"] = "http://" + address
	return &runner{address, names, check}
}

// run sends the request of c and returns everything that is not as expected.
func (r *runner) run(c scriptCase) error {
	lines, err := r.expandAll(c.request)
	if err != nil {
		return err
	}
	req, err := newRequest(lines)
	if err != nil {
		return err
	}
	got, err := req.send(r.address)
	if err != nil {
		return fmt.Errorf("%s: %w", lines[0].where, err)
	}
	var errs []error
	for _, l := range c.expect {
		if err := r.expect(got, l); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", l.where, err))
		}
	}
	if r.check != nil {
		if err := r.check(req.method, req.path(), got.status, got.header, got.body); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", lines[0].where, err))
		}
	}
	if len(errs) > 0 {
		errs = append(errs, fmt.Errorf("answer: %d %v\n%s", got.status, got.header, excerpt(got.body)))
	}
	return errors.Join(errs...)
}

func (r *runner) expect(got *answer, l line) error {
	value, err := r.expand(l.value)
	if err != nil {
		return err
	}
	if l.word == "remember" {
		return r.remember(got, value)
	}
	return expectations[l.word](got, value)
}

func (r *runner) remember(got *answer, value string) error {
	header, name, ok := strings.Cut(value, " as ")
	if !ok || !nameForm.MatchString(name) || name == "base" {
		return fmt.Errorf("remember wants HEADER as NAME, not %q", value)
	}
	if got.header.Get(header) == "" {
		return fmt.Errorf("no %s to remember", header)
	}
	r.names[name] = got.header.Get(header)
	return nil
}

var placeholder = regexp.MustCompile(`\{\{([a-z0-9_]+)\}\}`)

// expand puts values in the place of names; values may hold names themselves.
func (r *runner) expand(s string) (string, error) {
	for depth := 0; placeholder.MatchString(s); depth++ {
		if depth == 8 {
			return "", fmt.Errorf("names stand for one another in %q", s)
		}
		var err error
		s = placeholder.ReplaceAllStringFunc(s, func(m string) string {
			value, ok := r.names[m[2:len(m)-2]]
			if !ok {
				err = fmt.Errorf("nothing is known as %s", m)
			}
			return value
		})
		if err != nil {
			return "", err
		}
	}
	return s, nil
}

func (r *runner) expandAll(lines []line) ([]line, error) {
	out := make([]line, len(lines))
	for i, l := range lines {
		value, err := r.expand(l.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.where, err)
		}
		out[i] = line{l.where, l.word, value}
	}
	return out, nil
}

// expectations are the words of a case that say what must come back.
var expectations = map[string]func(got *answer, value string) error{
	"code":     (*answer).hasCode,
	"reply":    (*answer).hasHeader,
	"noreply":  (*answer).hasNoHeader,
	"body":     (*answer).hasBody,
	"contains": (*answer).contains,
	"lacks":    (*answer).lacks,
	"empty":    (*answer).isEmpty,
}

func (a *answer) hasCode(value string) error {
	code, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("code wants a number: %w", err)
	}
	if a.status != code {
		return fmt.Errorf("code %d, want %d", a.status, code)
	}
	return nil
}

var headerForm = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

var replyForm = regexp.MustCompile(`^([A-Za-z0-9-]+)(:| ~| !=) (.+)$`)

func (a *answer) hasHeader(value string) error {
	m := replyForm.FindStringSubmatch(value)
	if m == nil {
		return fmt.Errorf("reply wants NAME: VALUE, NAME ~ REGEXP or NAME != VALUE, not %q", value)
	}
	name, how, want := m[1], m[2], m[3]
	if a.header.Values(name) == nil {
		return fmt.Errorf("no %s, want %s", name, want)
	}
	got := strings.Join(a.header.Values(name), ", ")
	switch how {
	case ":":
		if got != want {
			return fmt.Errorf("%s is %q, want %q", name, got, want)
		}
	case " !=":
		if got == want {
			return fmt.Errorf("%s is %q, want another", name, got)
		}
	default:
		re, err := regexp.Compile(want)
		if err != nil {
			return fmt.Errorf("reply: %w", err)
		}
		if !re.MatchString(got) {
			return fmt.Errorf("%s is %q, want a match of %s", name, got, want)
		}
	}
	return nil
}

func (a *answer) hasNoHeader(name string) error {
	if !headerForm.MatchString(name) {
		return fmt.Errorf("noreply wants the name of a header, not %q", name)
	}
	if got := a.header.Values(name); got != nil {
		return fmt.Errorf("%s is %q, want none", name, got)
	}
	return nil
}

func (a *answer) hasBody(want string) error {
	got := string(a.body)
	if got == want {
		return nil
	}
	same := 0
	for same < len(got) && same < len(want) && got[same] == want[same] {
		same++
	}
	return fmt.Errorf("the body differs from byte %d on\n got %q\nwant %q", same, got[same:], want[same:])
}

func (a *answer) contains(want string) error {
	if want == "" {
		return errors.New("contains wants a text")
	}
	if !bytes.Contains(a.body, []byte(want)) {
		return fmt.Errorf("the body does not contain %q", want)
	}
	return nil
}

func (a *answer) lacks(want string) error {
	if want == "" {
		return errors.New("lacks wants a text")
	}
	if bytes.Contains(a.body, []byte(want)) {
		return fmt.Errorf("the body contains %q", want)
	}
	return nil
}

func (a *answer) isEmpty(value string) error {
	if value != "" {
		return fmt.Errorf("empty stands alone, not before %q", value)
	}
	if len(a.body) != 0 {
		return fmt.Errorf("the body holds %d bytes, want none", len(a.body))
	}
	return nil
}

func excerpt(body []byte) []byte {
	const most = 2000
	if len(body) > most {
		return append(body[:most:most], "…"...)
	}
	return body
}
