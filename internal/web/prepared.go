package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// compressFrom is the length in bytes from which a prepared response is compressed. Compressing a smaller one takes
// longer than sending it.
const compressFrom = 16 << 10

// Prepared is a JSON body that can be served many times: its ETag, its length and its compressed form are worked out
// once. It is immutable and may be shared.
type Prepared struct {
	plain      coded
	compressed func() coded // nil: there is no compressed form
	keep       []string     // Cache-Control
}

// coded is a body in one content coding, with the headers that belong to it.
type coded struct {
	body     []byte
	etag     []string
	length   []string
	encoding []string // nil: none
}

// Prepare returns a prepared response. The caller must not change body afterwards.
func Prepare(body []byte) *Prepared { return PrepareTagged(body, tagOf(body)) }

// PrepareTagged is [Prepare] with an ETag of the caller's, without quotes, which must change with body.
func PrepareTagged(body []byte, tag string) *Prepared {
	p := &Prepared{plain: encode(body, `"`+tag+`"`), keep: valueRevalidated}
	if len(body) >= compressFrom {
		p.compressed = sync.OnceValue(func() coded {
			small := encode(compress(body), strings.TrimSuffix(p.plain.etag[0], `"`)+`-gzip"`)
			small.encoding = valueGzip
			return small
		})
	}
	return p
}

// encode returns the form of a body that has a tag, its quotes included.
func encode(body []byte, tag string) coded {
	return coded{body: body, etag: []string{tag}, length: []string{strconv.Itoa(len(body))}}
}

// Form is a body in one content coding, and its strong ETag with its quotes.
type Form struct {
	Body []byte
	ETag string
}

// PreparePublic prepares a response that shared caches may store for age, in whole seconds, from encoded forms. gzipped
// is sent to clients that accept it; if it is empty, the response is never compressed.
func PreparePublic(plain, gzipped Form, age time.Duration) *Prepared {
	p := &Prepared{
		plain: encode(plain.Body, plain.ETag),
		keep:  []string{"public, max-age=" + wholeSeconds(age)},
	}
	if gzipped.Body != nil {
		small := encode(gzipped.Body, gzipped.ETag)
		small.encoding = valueGzip
		p.compressed = func() coded { return small }
	}
	return p
}

// tagOf returns the value of a strong ETag: 128 bits of the SHA-256 of the body.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

func compress(body []byte) []byte {
	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	_, _ = z.Write(body) // writing to memory does not fail
	_ = z.Close()
	return small.Bytes()
}

// Serve responds to a read with 200 and the body, or with 304. Unless the response is public, only the client may cache
// it, and must revalidate it each time. Methods other than GET and HEAD get no ETag and are no-store, because some HTTP
// stacks cache a POST by its URL.
func (p *Prepared) Serve(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	f := p.choose(h, r)
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		h["Etag"] = f.etag
		h["Cache-Control"] = p.keep
		if noneMatch(r.Header["If-None-Match"], f.etag[0]) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	if f.encoding != nil {
		h["Content-Encoding"] = f.encoding
	}
	h["Content-Type"] = valueJSON
	h["Content-Length"] = f.length
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	for piece := range slices.Chunk(f.body, smallWrite) { // the whole is not held for this response alone
		if _, err := w.Write(piece); err != nil {
			break // a client that has left is nobody to tell
		}
	}
	return nil
}

// choose takes the content coding that the client asks for.
func (p *Prepared) choose(h http.Header, r *http.Request) coded {
	if p.compressed == nil {
		return p.plain
	}
	h["Vary"] = valueAcceptEncoding
	if acceptsGzip(r.Header["Accept-Encoding"]) {
		return p.compressed()
	}
	return p.plain
}

var (
	valueGzip           = []string{"gzip"}
	valueAcceptEncoding = []string{"Accept-Encoding"}
)

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

// Cached serves a body created for this request like [Prepared.Serve], but never compressed.
func Cached(w http.ResponseWriter, r *http.Request, body []byte) error {
	p := Prepare(body)
	p.compressed = nil // it would be for one response
	return p.Serve(w, r)
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
