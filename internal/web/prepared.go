package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/prepared"
)

// Form is a body in one content coding, and its strong ETag with its quotes.
type Form struct {
	Body []byte
	ETag string
}

// PreparePublic prepares a response that shared caches may store for age, in whole seconds, from encoded forms. gzipped
// is sent to clients that accept it; if it is empty, the response is never compressed.
func PreparePublic(plain, gzipped Form, age time.Duration) *prepared.Response {
	p := &prepared.Response{Plain: prepared.NewForm(plain.Body, plain.ETag), Keep: []string{"public, max-age=" + wholeSeconds(age)}}
	if gzipped.Body != nil {
		small := prepared.NewForm(gzipped.Body, gzipped.ETag).Gzipped()
		p.Compressed = func() prepared.Form { return small }
	}
	return p
}

// ServePrepared responds to a read with 200 and the body, or with 304. Unless the response is public, only the client may cache
// it, and must revalidate it each time. Methods other than GET and HEAD get no ETag and are no-store, because some HTTP
// stacks cache a POST by its URL.
func ServePrepared(w http.ResponseWriter, r *http.Request, p *prepared.Response) error {
	h := w.Header()
	f := choose(h, r, p)
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		h["Etag"] = f.ETag
		if h["Cache-Control"] = p.Keep; p.Keep == nil {
			h["Cache-Control"] = valueRevalidated
		}
		if noneMatch(r.Header["If-None-Match"], f.ETag[0]) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if f.Encoding != nil {
		h["Content-Encoding"] = f.Encoding
	}
	h["Content-Type"] = valueJSON
	h["Content-Length"] = f.Length
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	for piece := range slices.Chunk(f.Body, smallWrite) { // the whole is not held for this response alone
		if _, err := w.Write(piece); err != nil {
			break // a client that has left is nobody to tell
		}
	}
	return nil
}

// choose takes the content coding that the client asks for.
func choose(h http.Header, r *http.Request, p *prepared.Response) prepared.Form {
	if p.Compressed == nil {
		return p.Plain
	}
	h["Vary"] = valueAcceptEncoding
	if acceptsGzip(r.Header["Accept-Encoding"]) {
		return p.Compressed()
	}
	return p.Plain
}

var valueAcceptEncoding = []string{"Accept-Encoding"}

// acceptsGzip reports whether Accept-Encoding names gzip with a weight above 0.
func acceptsGzip(values []string) bool {
	for _, list := range values {
		for one := range strings.SplitSeq(list, ",") {
			coding, weight, _ := strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				q, given := strings.CutPrefix(strings.TrimSpace(weight), "q=")
				n, err := strconv.ParseFloat(q, 64)
				return !given || (err == nil && n > 0)
			}
		}
	}
	return false
}

// Cached serves a body created for this request like [ServePrepared], but never compressed.
func Cached(w http.ResponseWriter, r *http.Request, body []byte) error {
	p := prepared.New(body)
	p.Compressed = nil // it would be for one response
	return ServePrepared(w, r, p)
}

// Tagged answers a read with v as JSON, or with 304 if If-None-Match names the tag, which must change with v. Only the
// client may cache it, and must revalidate it each time.
func Tagged(w http.ResponseWriter, r *http.Request, tag string, v any) error {
	h := w.Header()
	etag := `"` + tag + `"`
	h["Etag"] = []string{etag}
	h["Cache-Control"] = valueRevalidated
	if noneMatch(r.Header["If-None-Match"], etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return Object(w, v)
}

// noneMatch reports whether If-None-Match names the ETag. It compares weakly (RFC 9110, 13.1.2); what can't be read
// does not match.
func noneMatch(values []string, etag string) bool {
	for _, list := range values {
		for list = skipSeparators(list); list != ""; list = skipSeparators(list) {
			if list[0] == '*' {
				return true
			}
			list = strings.TrimPrefix(list, "W/")
			if list == "" || list[0] != '"' {
				break
			}
			end := strings.IndexByte(list[1:], '"')
			if end < 0 {
				break
			}
			if list[:end+2] == etag {
				return true
			}
			list = list[end+2:]
		}
	}
	return false
}

func skipSeparators(s string) string { return strings.TrimLeft(s, " \t,") }
