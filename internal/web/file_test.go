package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestADownloadIsNotedWhenContentIsSent(t *testing.T) {
	full := errors.New("disk full")
	for _, c := range []struct {
		rule, method, header, value string
		begin                       error
		status, begun               int
		body                        string
	}{
		{"the whole file", "GET", "", "", nil, 200, 1, "rain and thunder"},
		{"a part", "GET", "Range", "bytes=5-7", nil, 206, 1, "and"},
		{"two parts", "GET", "Range", "bytes=0-0,5-7", nil, 206, 1, ""},
		{"a look", "HEAD", "", "", nil, 200, 0, ""},
		{"a look at a part", "HEAD", "Range", "bytes=5-7", nil, 206, 0, ""},
		{"the client has it", "GET", "If-None-Match", `"a"`, nil, 304, 0, ""},
		{"it has not changed since", "GET", "If-Modified-Since", "Sun, 01 Nov 2026 12:00:00 GMT", nil, 304, 0, ""},
		{"another file is wanted", "GET", "If-Match", `"b"`, nil, 412, 0, ""},
		{"a part beyond the end", "GET", "Range", "bytes=99-", nil, 416, 0, ""},
		{"it can't be noted", "GET", "", "", full, 500, 1, `{"status":"error","msg":"Internal error"}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			begun := 0
			h := NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
				w.Header().Set("ETag", `"a"`)
				w.Header().Set("Cache-Control", "public, max-age=60")
				return ServeDownload(w, r, time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), strings.NewReader("rain and thunder"), func() error {
					begun++
					return c.begin
				})
			})
			r := httptest.NewRequest(c.method, "/", nil)
			if c.header != "" {
				r.Header.Set(c.header, c.value)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status || begun != c.begun {
				t.Errorf("status %d, noted %d times; want %d and %d", w.Code, begun, c.status, c.begun)
			}
			if kept := w.Header().Get("Cache-Control") == "public, max-age=60"; kept != (c.status < 400) || w.Header().Get("Cache-Control") == "" {
				t.Errorf("Cache-Control is %q", w.Header().Get("Cache-Control"))
			}
			if c.body != "" && w.Body.String() != c.body {
				t.Errorf("body %q, want %q", w.Body, c.body)
			}
			if c.begin != nil && (w.Header().Get("Content-Length") == "16" || w.Header().Get("Accept-Ranges") != "") {
				t.Errorf("headers of the file: %v", w.Header())
			}
		})
	}
}
