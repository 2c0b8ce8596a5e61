// Package webtest runs the HTTP contract, written as text scripts, against a
// handler behind a real server on 127.0.0.1.
//
// A script is a sequence of blocks separated by blank lines. A block of
// comments alone is prose. A head block gives names and expectations to all
// cases below it:
//
//	include FILE            the head blocks of another file, relative to this one
//	set NAME VALUE          {{NAME}} stands for VALUE; {{base}} is the server's own address
//	every EXPECTATION       each case below expects this too
//
// Every other block is a case: comment lines, which are its name and state the
// rule, then the request, then what is expected of the answer.
//
//	# a code another workspace sold is unknown
//	POST /api/purchases/validation
//	header X-Api-Key: k2
//	form purchase_code=new
//	code 404
//	reply X-Error-Code: purchase_not_found
//	body {"status":"error","msg":"Invalid purchase code"}
//
// The request is "METHOD /target", sent as written, and any of
//
//	header NAME: VALUE      may repeat; Host is the host
//	peer ADDRESS            the client's address, as a trusted proxy reports it (X-Forwarded-For)
//	form, json, text TEXT   the body: form and json say their Content-Type, text says none
//	bytes "GO STRING"       body bytes that text cannot hold
//	repeat "GO STRING" N    the string N times
//	multipart A=B&C=D       a multipart/form-data body, values percent-encoded
//	chunked                 the body is sent without its length
//
// Body lines append to one another; a header line with Content-Type wins over
// theirs. A request that net/http will not send is written as one or more
// lines raw "GO STRING" in place of all of these, sent as they are over TCP.
//
//	code N                  the status; required
//	reply NAME: VALUE       the header, exactly; "reply NAME ~ REGEXP", "reply NAME != VALUE"
//	noreply NAME            the header is absent
//	body TEXT               the whole body, byte for byte
//	contains TEXT, lacks TEXT
//	empty                   no body
//	remember NAME as X      {{X}} stands for the header in the cases below; it must be there
//
// One of body, contains and empty is required, so that no case asserts
// nothing. An indented line continues the line above it; nothing is put
// between the two. A line may not end in white space. An unknown word fails.
package webtest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// Run serves handler on 127.0.0.1 and runs the cases of each file against it,
// in order: a subtest for each file and, in it, one for each case, named by
// the case's comment. check, unless nil, judges every answer as well, for
// example against an OpenAPI document; path is the request's, without query.
func Run(t *testing.T, handler http.Handler, files []string,
	check func(method, path string, status int, header http.Header, body []byte) error) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	if len(files) == 0 {
		t.Fatal("no scripts")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := must.Get(readScript(file))(t)
			r := newRunner(server.Listener.Addr().String(), s, check)
			for _, c := range s.cases {
				t.Run(c.title, func(t *testing.T) {
					if err := r.run(c); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

// line is one directive with its continuation lines joined to it.
type line struct {
	where       string // file:number
	word, value string
}

// scriptCase is one request and what is expected of its answer.
type scriptCase struct {
	title   string
	request []line
	expect  []line
}

// script is one file, its includes resolved.
type script struct {
	names map[string]string
	every []line
	cases []scriptCase
}

func readScript(file string) (*script, error) {
	s := &script{names: map[string]string{}}
	if err := s.read(file); err != nil {
		return nil, err
	}
	if len(s.cases) == 0 {
		return nil, fmt.Errorf("%s: no cases", file)
	}
	return s, nil
}

func (s *script) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("webtest: %w", err)
	}
	blocks, err := splitBlocks(filepath.Base(file), string(text))
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if headWords[b.lines[0].word] {
			err = s.addHead(file, b)
		} else {
			err = s.addCase(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var headWords = map[string]bool{"include": true, "set": true, "every": true}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func (s *script) addHead(file string, b block) error {
	for _, l := range b.lines {
		first, rest, _ := strings.Cut(l.value, " ")
		switch l.word {
		case "include":
			cases := len(s.cases)
			if err := s.read(filepath.Join(filepath.Dir(file), l.value)); err != nil {
				return fmt.Errorf("%s: %w", l.where, err)
			}
			if len(s.cases) != cases {
				return fmt.Errorf("%s: an included file may not hold cases", l.where)
			}
		case "set":
			if err := s.name(first, rest); err != nil {
				return fmt.Errorf("%s: %w", l.where, err)
			}
		case "every":
			if expectations[first] == nil {
				return fmt.Errorf("%s: unknown expectation %q", l.where, first)
			}
			s.every = append(s.every, line{l.where, first, rest})
		default:
			return fmt.Errorf("%s: %q has no place among include, set and every", l.where, l.word)
		}
	}
	return nil
}

func (s *script) name(name, value string) error {
	if !nameForm.MatchString(name) || name == "base" || value == "" {
		return fmt.Errorf("set wants a name in lower case, other than base, and a value; not %q", name)
	}
	if _, taken := s.names[name]; taken {
		return fmt.Errorf("%q is set already", name)
	}
	s.names[name] = value
	return nil
}

func (s *script) addCase(b block) error {
	where := b.lines[0].where
	if b.title == "" {
		return fmt.Errorf("%s: a case without a comment that names it", where)
	}
	for _, c := range s.cases {
		if c.title == b.title {
			return fmt.Errorf("%s: two cases are named %q", where, b.title)
		}
	}
	c := scriptCase{title: b.title, expect: append([]line(nil), s.every...)}
	codes, bodies := 0, 0
	for i, l := range b.lines {
		switch {
		case requestWords[l.word] != nil || i == 0:
			c.request = append(c.request, l)
			continue
		case l.word == "code":
			codes++
		case l.word == "body" || l.word == "contains" || l.word == "empty":
			bodies++
		case expectations[l.word] == nil && l.word != "remember":
			return fmt.Errorf("%s: unknown word %q", l.where, l.word)
		}
		c.expect = append(c.expect, l)
	}
	if codes != 1 {
		return fmt.Errorf("%s: a case expects exactly one code", where)
	}
	if bodies == 0 {
		return fmt.Errorf("%s: a case expects something of the body: body, contains or empty", where)
	}
	s.cases = append(s.cases, c)
	return nil
}

// block is a run of lines without a blank one, comments apart.
type block struct {
	title string
	lines []line
}

func splitBlocks(file, text string) ([]block, error) {
	var blocks []block
	var b block
	flush := func() {
		if len(b.lines) > 0 {
			blocks = append(blocks, b)
		}
		b = block{}
	}
	for i, s := range strings.Split(text, "\n") {
		where := fmt.Sprintf("%s:%d", file, i+1)
		if s == "" {
			flush()
			continue
		}
		if err := b.add(where, s); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
	}
	flush()
	return blocks, nil
}

func (b *block) add(where, s string) error {
	switch {
	case strings.TrimRight(s, " \t\r") != s:
		return errors.New("white space at the end of the line")
	case s[0] == '#' && len(b.lines) > 0:
		return errors.New("a comment inside a case")
	case s[0] == '#':
		b.title = strings.TrimSpace(b.title + " " + strings.TrimSpace(s[1:]))
	case s[0] != ' ' && s[0] != '\t':
		word, value, _ := strings.Cut(s, " ")
		b.lines = append(b.lines, line{where, word, value})
	case len(b.lines) == 0:
		return errors.New("an indented line with nothing above it to continue")
	default:
		last := &b.lines[len(b.lines)-1]
		last.value += strings.TrimLeft(s, " \t")
	}
	return nil
}
