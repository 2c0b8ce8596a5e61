package webtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// deadline ends a case whose answer never comes.
const deadline = 5 * time.Minute

// request is what one case sends. raw, when not empty, is all of it.
type request struct {
	method, target string
	header         http.Header // names spelled as in the script
	host           string
	body           []byte
	contentType    string
	chunked        bool
	raw            []byte
}

// answer is what came back, the body as it stood on the wire.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// requestWords are the words of a case that say what is sent.
var requestWords = map[string]func(r *request, value string) error{
	"header":    (*request).addHeader,
	"peer":      func(r *request, value string) error { return r.addHeader("X-Forwarded-For: " + value) },
	"form":      func(r *request, value string) error { return r.addBody("application/x-www-form-urlencoded", value) },
	"json":      func(r *request, value string) error { return r.addBody("application/json", value) },
	"text":      func(r *request, value string) error { return r.addBody("", value) },
	"bytes":     (*request).addBytes,
	"repeat":    (*request).addRepeated,
	"multipart": (*request).addMultipart,
	"chunked":   func(r *request, _ string) error { r.chunked = true; return nil },
	"raw":       (*request).addRaw,
}

func (r *request) addHeader(value string) error {
	name, v, ok := strings.Cut(value, ":")
	if !ok || name == "" {
		return fmt.Errorf("header wants NAME: VALUE, not %q", value)
	}
	v = strings.TrimSpace(v)
	switch {
	case strings.EqualFold(name, "Host"):
		r.host = v
	case strings.EqualFold(name, "Content-Type"):
		r.header["Content-Type"] = append(r.header["Content-Type"], v)
	default:
		r.header[name] = append(r.header[name], v)
	}
	return nil
}

func (r *request) addBody(contentType, text string) error {
	if r.contentType == "" {
		r.contentType = contentType
	}
	r.body = append(r.body, text...)
	return nil
}

func (r *request) addBytes(value string) error {
	s, err := strconv.Unquote(value)
	if err != nil {
		return fmt.Errorf("bytes wants a Go string: %w", err)
	}
	return r.addBody("", s)
}

func (r *request) addRepeated(value string) error {
	quoted, err := strconv.QuotedPrefix(value)
	if err != nil {
		return fmt.Errorf("repeat wants a Go string: %w", err)
	}
	s, err := strconv.Unquote(quoted)
	if err != nil {
		return fmt.Errorf("repeat wants a Go string: %w", err)
	}
	n, err := strconv.ParseUint(strings.TrimSpace(value[len(quoted):]), 10, 31)
	if err != nil {
		return fmt.Errorf("repeat wants a number after the string: %w", err)
	}
	return r.addBody("", strings.Repeat(s, int(n)))
}

func (r *request) addMultipart(value string) error {
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for pair := range strings.SplitSeq(value, "&") {
		name, v, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		v, valueErr := url.QueryUnescape(v)
		if err = errors.Join(err, valueErr, w.WriteField(name, v)); err != nil {
			return fmt.Errorf("multipart: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("multipart: %w", err)
	}
	return r.addBody(w.FormDataContentType(), buf.String())
}

func (r *request) addRaw(value string) error {
	s, err := strconv.Unquote(value)
	if err != nil {
		return fmt.Errorf("raw wants a Go string: %w", err)
	}
	r.raw = append(r.raw, s...)
	return nil
}

var (
	methodForm = regexp.MustCompile(`^[!-~]+$`)
	targetForm = regexp.MustCompile(`^/([^/ ][^ ]*)?$`) // net/http rewrites what begins with two slashes
)

// newRequest reads the request lines of a case, names already expanded.
func newRequest(lines []line) (*request, error) {
	r := &request{header: http.Header{}}
	if lines[0].word != "raw" {
		r.method, r.target = lines[0].word, lines[0].value
		if !methodForm.MatchString(r.method) || !targetForm.MatchString(r.target) {
			return nil, fmt.Errorf("%s: a case begins with METHOD /target or raw, not %q", lines[0].where, r.method)
		}
		lines = lines[1:]
	}
	for _, l := range lines {
		if (l.word == "raw") != (r.method == "") {
			return nil, fmt.Errorf("%s: raw stands alone", l.where)
		}
		if err := requestWords[l.word](r, l.value); err != nil {
			return nil, fmt.Errorf("%s: %w", l.where, err)
		}
	}
	if r.method == "" {
		requestLine, _, _ := strings.Cut(string(r.raw), "\r\n")
		r.method, requestLine, _ = strings.Cut(requestLine, " ")
		r.target, _, _ = strings.Cut(requestLine, " ")
	}
	return r, nil
}

// path is the target without scheme, host and query.
func (r *request) path() string {
	target, _, _ := strings.Cut(r.target, "?")
	if _, rest, ok := strings.Cut(target, "://"); ok {
		_, rest, _ = strings.Cut(rest, "/")
		return "/" + rest
	}
	return target
}

// send makes one request to the server at address, on a connection of its own.
func (r *request) send(address string) (*answer, error) {
	if r.raw != nil {
		return exchange(address, r.method, func(w io.Writer) error {
			_, err := w.Write(r.raw)
			return err
		})
	}
	req := &http.Request{
		Method: r.method,
		URL:    &url.URL{Scheme: "http", Host: address, Opaque: r.target},
		Host:   r.host,
		Header: r.header.Clone(),
		Close:  true,
	}
	if r.body != nil {
		req.Body = io.NopCloser(bytes.NewReader(r.body))
		req.ContentLength = int64(len(r.body))
	}
	if r.chunked {
		req.ContentLength = -1
	}
	if r.contentType != "" && req.Header["Content-Type"] == nil {
		req.Header.Set("Content-Type", r.contentType)
	}
	return exchange(address, r.method, req.Write)
}

// exchange writes a request and reads its answer at the same time: a server may
// answer before it has read everything, and then closes the connection.
func exchange(address, method string, write func(io.Writer) error) (*answer, error) {
	conn, err := net.DialTimeout("tcp", address, deadline)
	if err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(deadline)); err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	written := make(chan error, 1)
	go func() { written <- write(conn) }()
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, &http.Request{Method: method})
	for err == nil && res.StatusCode/100 == 1 { // 100 Continue
		res, err = http.ReadResponse(in, &http.Request{Method: method})
	}
	if err != nil {
		conn.Close()
		return nil, errors.Join(fmt.Errorf("read the answer: %w", err), <-written)
	}
	return read(res)
}

func read(res *http.Response) (*answer, error) {
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return &answer{res.StatusCode, res.Header, body}, nil
}
