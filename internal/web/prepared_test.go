package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/prepared"
)

func TestReadsAreRevalidated(t *testing.T) {
	p := prepared.New([]byte(success))
	etag := p.Plain.ETag[0]
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
			NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error { return ServePrepared(w, r, p) }).ServeHTTP(w, r)
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

func TestLargeAnswersAreCompressedForThoseWhoAsk(t *testing.T) {
	large := `"` + strings.Repeat("countersign ", 5000) + `"`
	long := `"` + strings.Repeat("countersign ", longAnswer/12) + `"`
	small := `"small"`
	for name, c := range map[string]struct {
		body     string
		accept   string
		encoding string
	}{
		"nobody asked":                      {large, "", ""},
		"gzip is asked for":                 {large, "gzip", "gzip"},
		"gzip among others, in any case":    {large, "br, GZIP;q=0.5", "gzip"},
		"gzip is refused":                   {large, "gzip;q=0, br", ""},
		"gzip with an unreadable weight":    {large, "gzip;q=x", ""},
		"another coding alone":              {large, "br", ""},
		"a long answer, and nobody asked":   {long, "", ""},
		"a long answer in gzip":             {long, "gzip", "gzip"},
		"a small answer is not worth while": {small, "gzip", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Accept-Encoding", c.accept)
			w := httptest.NewRecorder()
			must.Do(t, ServePrepared(w, r, prepared.New([]byte(c.body))))
			expect.Equalf(t, w.Header().Get("Content-Encoding"), c.encoding, "Content-Encoding")
			body := w.Body.Bytes()
			expect.Equalf(t, w.Header().Get("Content-Length"), strconv.Itoa(len(body)), "Content-Length, and %d bytes came", len(body))
			if c.encoding != "" {
				z, err := gzip.NewReader(bytes.NewReader(body))
				must.Do(t, err)
				if body, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
			}
			expect.Equalf(t, string(body), c.body, "the body is not the prepared one")
			if varies := w.Header().Get("Vary") == "Accept-Encoding"; varies != (c.body != small) {
				t.Errorf("Vary is %q", w.Header().Get("Vary"))
			}
		})
	}
}

func TestEachCodingHasItsOwnETag(t *testing.T) {
	large := prepared.New([]byte(strings.Repeat("x", prepared.CompressFrom)))
	get := func(accept, match string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accept)
		r.Header.Set("If-None-Match", match)
		w := httptest.NewRecorder()
		must.Do(t, ServePrepared(w, r, large))
		return w
	}
	plain, compressed := get("", "").Header().Get("ETag"), get("gzip", "").Header().Get("ETag")
	if plain == compressed {
		t.Errorf("both are %s", plain)
	}
	if code := get("gzip", compressed).Code; code != http.StatusNotModified {
		t.Errorf("status %d for the compressed form's tag, want 304", code)
	}
	if code := get("gzip", plain).Code; code != http.StatusOK {
		t.Errorf("status %d for the other form's tag, want 200", code)
	}
}

func TestPublicAnswersMayBeKept(t *testing.T) {
	plain, small := Form{[]byte(success), `"tag"`}, Form{[]byte("zipped"), `"tag-gzip"`}
	tests := []struct {
		name            string
		answer          *prepared.Response
		accept, none    string
		status          int
		body, tag, vary string
	}{
		{"without a compressed form", PreparePublic(plain, Form{}, time.Minute), "gzip", "", 200, success, `"tag"`, ""},
		{"for who does not ask for it", PreparePublic(plain, small, time.Minute), "br", "", 200, success, `"tag"`, "Accept-Encoding"},
		{"for who asks for it", PreparePublic(plain, small, time.Minute), "gzip", "", 200, "zipped", `"tag-gzip"`, "Accept-Encoding"},
		{"for who has it", PreparePublic(plain, small, time.Minute), "gzip", `"tag-gzip"`, 304, "", `"tag-gzip"`, "Accept-Encoding"},
		{"for who has the other form", PreparePublic(plain, small, time.Minute), "gzip", `"tag"`, 200, "zipped", `"tag-gzip"`, "Accept-Encoding"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept-Encoding", tt.accept)
			r.Header.Set("If-None-Match", tt.none)
			w := httptest.NewRecorder()
			NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error { return ServePrepared(w, r, tt.answer) }).ServeHTTP(w, r)
			h := w.Header()
			if w.Code != tt.status || w.Body.String() != tt.body || h.Get("ETag") != tt.tag || h.Get("Vary") != tt.vary || h.Get("Cache-Control") != "public, max-age=60" {
				t.Errorf("%d %v %s", w.Code, h, w.Body)
			}
		})
	}
}
