package web

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

func TestParamsOfMultipart(t *testing.T) {
	part := func(disposition, value string) string {
		return "--B\r\nContent-Disposition: " + disposition + "\r\n\r\n" + value + "\r\n"
	}
	const end = "--B--\r\n"
	a1, a2 := part(`form-data; name="a"`, "1"), part(`form-data; name="a"`, "2")
	tests := []struct{ name, contentType, body, want string }{
		{"values", typeFile, a1 + part(`form-data; name="b"`, "x\r\ny") + end, `a="1", b="x\r\ny"`},
		{"no parts", typeFile, end, ""},
		{"a file is passed over", typeFile, part(`form-data; name="a"; filename="a.txt"`, "9") + a1 + end, `a="1"`},
		{"other parts are ignored", typeFile, part(`form-data; name="x"`, "9") + a1 + end, `a="1"`},
		{"a part without a name", typeFile, part(`form-data`, "9") + a1 + end, `a="1"`},
		{"another disposition is no value", typeFile, part(`attachment; name="a"`, "9") + end, ""},
		{"the same value twice", typeFile, a1 + a1 + end, `a="1"`},
		{"two values", typeFile, a1 + a2 + end, "param_conflict"},
		{"unfinished", typeFile, a1, "bad_body"},
		{"cut off in a value", typeFile, a1[:len(a1)-3], "bad_body"},
		{"another boundary", "multipart/form-data; boundary=C", a1 + end, "bad_body"},
		{"no boundary", "multipart/form-data", a1 + end, "bad_body"},
		{"not multipart at all", typeFile, "a=1", "bad_body"},
		{"another sort of multipart", "multipart/mixed; boundary=B", a1 + end, "unsupported_type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { post{contentType: tt.contentType, body: tt.body}.check(t, tt.want) })
	}
}

func TestContentTypes(t *testing.T) {
	const asJSON, asForm = `{"a":"1"}`, `a=1`
	tests := []struct{ contentType, body, want string }{
		{"", asJSON, `a="1"`},
		{"", " \n" + asJSON, `a="1"`},
		{"", asForm, `a="1"`},
		{"text/plain", asJSON, `a="1"`},
		{"text/plain; charset=UTF-8", asForm, `a="1"`},
		{"", `["a"]`, ""},
		{"", `{"a":`, "bad_body"},
		{"application/json; charset=utf-8", asJSON, `a="1"`},
		{"Application/JSON;charset=\"UTF-8\"", asJSON, `a="1"`},
		{"application/json; charset=us-ascii", asJSON, `a="1"`},
		{"application/json; charset=utf8", asJSON, `a="1"`},
		{"application/json; charset=UTF8", `{"a":"é"}`, `a="é"`},
		{"application/json; charset=utf8", "{\"a\":\"\xe9\"}", "bad_body"},
		{"application/json; charset=iso-8859-1", asJSON, `a="1"`},
		{"application/json; charset=ISO-8859-1", `{"a":"é"}`, `a="é"`},
		{"application/json; charset=iso-8859-1", "{\"a\":\"\xe9\"}", "unsupported_type"},
		{"application/json; charset=windows-1252", asJSON, `a="1"`},
		{"application/json; charset=shift_jis", asJSON, `a="1"`},
		{"application/json; charset=utf-16", asJSON, `a="1"`},
		{"application/json; charset=utf-16", "{\x00}\x00", "unsupported_type"},
		{"application/json; charset=", asJSON, `a="1"`},
		{"application/json; charset", asJSON, `a="1"`},
		{"application/json; charset=utf-8; charset=utf-8", asJSON, `a="1"`},
		{"text/json", asJSON, `a="1"`},
		{"Text/JSON; charset=utf-8", asJSON, `a="1"`},
		{"application/json", "\ufeff" + asJSON, `a="1"`},
		{"application/json", "\ufeff \n" + asJSON, `a="1"`},
		{"application/json", "\ufeff", "bad_body"},
		{"application/json", "\ufeff\ufeff" + asJSON, "bad_body"},
		{"", "\ufeff" + asJSON, `a="1"`},
		{typeForm, "\ufeff" + asJSON, `a="1"`},
		{typeForm, "\ufeff" + asForm, `a="1"`},
		{"application/json", " null\n", ""},
		{"text/plain", "null", ""},
		{"application/json", "nullx", "bad_body"},
		{"application/vnd.shop+json", asJSON, `a="1"`},
		{"application/json; profile=x", asJSON, `a="1"`},
		{"application/x-www-form-urlencoded; charset=utf-8", asForm, `a="1"`},
		{"application/x-www-form-urlencoded; charset=latin1", asForm, `a="1"`},
		{"application/x-www-form-urlencoded; charset=utf-16", "a\x00=\x001\x00", "unsupported_type"},
		{"application/jsonp", asJSON, "unsupported_type"},
		{"application/xml", "<a/>", "unsupported_type"},
		{"text/html", asForm, "unsupported_type"},
		{"application/octet-stream", asForm, "unsupported_type"},
		{"json", asJSON, "unsupported_type"},
		{"/", asJSON, "unsupported_type"},
		{"application/xml", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.contentType+" "+tt.body, func(t *testing.T) {
			post{contentType: tt.contentType, body: tt.body}.check(t, tt.want)
			post{contentType: tt.contentType, body: tt.body, chunked: true}.check(t, tt.want)
		})
	}
	t.Run("two types", func(t *testing.T) {
		two := http.Header{"Content-Type": {typeForm, typeJSON}}
		post{body: asForm, header: two}.check(t, "unsupported_type")
	})
}

func TestContentEncodings(t *testing.T) {
	tests := []struct {
		values []string
		want   string
	}{
		{[]string{"identity"}, `a="1"`},
		{[]string{"IDENTITY"}, `a="1"`},
		{[]string{""}, `a="1"`},
		{[]string{"gzip"}, "unsupported_encoding"},
		{[]string{"identity", "br"}, "unsupported_encoding"},
		{[]string{"identity, gzip"}, "unsupported_encoding"},
		{[]string{"x"}, "unsupported_encoding"},
	}
	for _, tt := range tests {
		h := http.Header{"Content-Encoding": tt.values}
		post{contentType: typeForm, body: "a=1", header: h}.check(t, tt.want)
		post{contentType: typeForm, header: h}.check(t, "")
	}
}

func TestBodySizes(t *testing.T) {
	fill := func(n int) string { return "a=" + strings.Repeat("x", n-2) }
	for _, chunked := range []bool{false, true} {
		fits := post{contentType: typeForm, body: fill(64 << 10), chunked: chunked}
		if got, err := fits.read(); err != nil || len(got) != 64<<10+2 {
			t.Errorf("64 KiB, chunked %v: %d bytes, %v", chunked, len(got), err)
		}
		post{contentType: typeForm, body: fill(64<<10 + 1), chunked: chunked}.check(t, "body_too_large")
		post{contentType: "image/png", body: fill(64<<10 + 1), chunked: chunked}.check(t, "body_too_large")
	}
}

// unread is a body that must not be touched.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}
func (unread) Close() error { return nil }

func TestABodyThatSaysItIsTooLargeIsNotRead(t *testing.T) {
	r := post{contentType: typeForm}.request()
	r.Body, r.ContentLength = unread{t}, 64<<10+1
	if _, err := ReadParams(httptest.NewRecorder(), r, "a"); err == nil {
		t.Error("no error")
	}
}

func TestABodyThatBreaksOff(t *testing.T) {
	r := post{contentType: typeForm}.request()
	r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader("a=1"), failingReader{})), 10
	_, err := ReadParams(httptest.NewRecorder(), r, "a")
	if apiErr, ok := errors.AsType[*countersign.Error](err); !ok || apiErr.Code != "bad_body" {
		t.Errorf("got %v", err)
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestBodiesOverTheWire sends what net/http itself has to take apart.
func TestBodiesOverTheWire(t *testing.T) {
	h := NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
		p, err := ReadParams(w, r, "a")
		if err != nil {
			return err
		}
		value, _ := p.Get("a")
		return OK(w, r, "data", value)
	})
	srv := httptest.NewServer(h)
	defer srv.Close()
	srv.Client().Transport.(*http.Transport).ExpectContinueTimeout = time.Minute
	tests := []struct {
		name, expect string
		body         io.Reader
		want         int
	}{
		{"a length", "", strings.NewReader(`{"a":"x"}`), 200},
		{"a length, announced", "100-continue", strings.NewReader(`{"a":"x"}`), 200},
		{"chunks", "", bufio.NewReader(strings.NewReader(`{"a":"x"}`)), 200},
		{"empty chunks", "", bufio.NewReader(strings.NewReader("")), 200},
		{"a large length", "", bytes.NewReader(make([]byte, 10<<20)), 413},
		{"a large length, announced", "100-continue", bytes.NewReader(make([]byte, 10<<20)), 413},
		{"large chunks", "", bufio.NewReader(bytes.NewReader(make([]byte, 100<<10))), 413},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := must.Get(http.NewRequest("POST", srv.URL, tt.body))(t)
			req.Header.Set("Content-Type", typeJSON)
			if tt.expect != "" {
				req.Header.Set("Expect", tt.expect)
			}
			res := must.Get(srv.Client().Do(req))(t)
			defer res.Body.Close()
			if res.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %s", res.StatusCode, tt.want, bodyOf(t, res))
			}
		})
	}
}

func TestABodyThatIsTooLargeIsRefusedBeforeItsEnd(t *testing.T) {
	h := NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
		_, err := ReadParams(w, r, "a")
		return err
	})
	s := start(t, h, ServerOptions{Longer: time.Hour})
	const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
	for name, text := range map[string]string{
		"chunks, once they pass the limit":      head + "Transfer-Encoding: chunked\r\n\r\n" + webtest.Chunks(65<<10),
		"a length just above the limit":         head + "Content-Length: 65537\r\n\r\n{",
		"a length that net/http would not read": head + "Content-Length: 100000000\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			res := webtest.Unfinished(t, "http://"+s.addr, text)
			if res.StatusCode != http.StatusRequestEntityTooLarge || !res.Close {
				t.Errorf("%s, the connection's last: %v", res.Status, res.Close)
			}
		})
	}
}

// A proxy may send a body to its end before it reads the response.
func TestAClientThatSendsARefusedBodyToItsEndReadsTheResponse(t *testing.T) {
	t.Parallel()
	h := NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
		_, err := ReadParams(w, r, "a")
		return err
	})
	const length = 32 << 20 // more than the buffers of both ends hold
	request := fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", length)
	res := webtest.Unfinished(t, "http://"+start(t, h, ServerOptions{}).addr, request+strings.Repeat(" ", length))
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Error(res.Status)
	}
}
