package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestReadsAreRevalidated(t *testing.T) {
	p := Prepare([]byte(success))
	etag := p.etag[0]
	tests := []struct {
		name, method string
		noneMatch    []string
		status       int
	}{
		{"no condition", "GET", nil, 200},
		{"the same tag", "GET", []string{etag}, 304},
		{"the same tag on HEAD", "HEAD", []string{etag}, 304},
		{"another tag", "GET", []string{`"other"`}, 200},
		{"a weak tag compares equal", "GET", []string{"W/" + etag}, 304},
		{"any tag", "GET", []string{"*"}, 304},
		{"in a list", "GET", []string{`"a", W/"b,c" ,` + etag}, 304},
		{"a list without it", "GET", []string{`"a", "b"`}, 200},
		{"in a second header", "GET", []string{`"a"`, etag}, 304},
		{"after a header that can't be read", "GET", []string{`junk`, etag}, 304},
		{"a tag without quotes", "GET", []string{etag[1 : len(etag)-1]}, 200},
		{"an unfinished tag", "GET", []string{etag[:len(etag)-1]}, 200},
		{"only a weakness mark", "GET", []string{"W/"}, 200},
		{"an empty header", "GET", []string{""}, 200},
		{"a star inside a tag is no star", "GET", []string{`"*"`}, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, "/", nil)
			r.Header["If-None-Match"] = tt.noneMatch
			w := httptest.NewRecorder()
			NewEdge(Options{}).Wrap(p.Serve).ServeHTTP(w, r)
			h := w.Header()
			if w.Code != tt.status || h.Get("ETag") != etag || h.Get("Cache-Control") != "private, no-cache" {
				t.Errorf("%d %v", w.Code, h)
			}
			if tt.status == 304 && (w.Body.Len() > 0 || h.Get("Content-Length") != "" || h.Get("Content-Type") != "") {
				t.Errorf("304 with content: %v %s", h, w.Body)
			}
			if tt.status == 200 && tt.method == "GET" && w.Body.String() != success {
				t.Errorf("body %s", w.Body)
			}
		})
	}
}

func TestAPostIsNeverToBeKept(t *testing.T) {
	r := httptest.NewRequest("POST", "/", nil)
	r.Header.Set("If-None-Match", "*")
	w := httptest.NewRecorder()
	h := NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
		return Cached(w, r, []byte(success))
	})
	h.ServeHTTP(w, r)
	if w.Code != 200 || w.Header().Get("ETag") != "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestETagsFollowTheBytes(t *testing.T) {
	a, same, other := Prepare([]byte("a")), Prepare([]byte("a")), Prepare([]byte("b"))
	if a.etag[0] != same.etag[0] || a.etag[0] == other.etag[0] {
		t.Errorf("%s %s %s", a.etag, same.etag, other.etag)
	}
}
