package web

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
)

// Prepared is a JSON body that can be served many times: its ETag and its length are worked out once. It is
// immutable and may be shared.
type Prepared struct {
	body   []byte
	etag   []string
	length []string
}

// Prepare makes a prepared answer. The body must not change afterwards.
func Prepare(body []byte) *Prepared {
	return &Prepared{body: body, etag: []string{etagOf(body)}, length: []string{strconv.Itoa(len(body))}}
}

// etagOf makes a strong ETag: 128 bits of the SHA-256 of the body.
func etagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// Body returns the bytes; they must not be changed.
func (p *Prepared) Body() []byte { return p.body }

// Serve answers a read: 200 with the body, or 304 when the client has it. The answer may be kept by the client alone
// and must be asked about each time. Methods other than GET and HEAD get no ETag and stay no-store, because some HTTP
// stacks cache a POST by its URL.
func (p *Prepared) Serve(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		h["Etag"] = p.etag
		h["Cache-Control"] = valueRevalidated
		if noneMatch(r.Header["If-None-Match"], p.etag[0]) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	h["Content-Type"] = valueJSON
	h["Content-Length"] = p.length
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(p.body) // a client that has left is nobody to tell
	return nil
}

// Cached answers a read from a body that was not prepared, as [Prepared.Serve] does.
func Cached(w http.ResponseWriter, r *http.Request, body []byte) error {
	return Prepare(body).Serve(w, r)
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
