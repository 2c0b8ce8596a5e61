// Package prepared has JSON bodies that are sent many times. What belongs to one, as its ETag,
// is worked out once. The package web sends them.
package prepared

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"sync"
)

// CompressFrom is the length in bytes from which a response is compressed. Compressing a smaller one takes
// longer than sending it.
const CompressFrom = 16 << 10

// Response is a JSON body that can be sent many times. It is immutable and may be shared.
type Response struct {
	Plain      Form
	Compressed func() Form // nil without a compressed form
	Keep       []string    // Cache-Control, nil: only the client may cache it, and must revalidate it each time
}

// Form is a body in one content coding, with the values of the headers that belong to it.
type Form struct {
	Body     []byte
	ETag     []string
	Length   []string
	Encoding []string // nil: none
}

// New returns the response that has a body. The caller must not change body afterwards.
func New(body []byte) *Response { return Tagged(body, tagOf(body)) }

// Tagged is [New] with an ETag of the caller's, without quotes, which must change with body.
func Tagged(body []byte, tag string) *Response {
	p := &Response{Plain: NewForm(body, `"`+tag+`"`)}
	if len(body) >= CompressFrom {
		p.Compressed = sync.OnceValue(func() Form {
			return NewForm(compress(body), `"`+tag+`-gzip"`).Gzipped()
		})
	}
	return p
}

// NewForm returns the form of a body that has a tag, its quotes included.
func NewForm(body []byte, tag string) Form {
	return Form{Body: body, ETag: []string{tag}, Length: []string{strconv.Itoa(len(body))}}
}

// Gzipped is the form with its content coding.
func (f Form) Gzipped() Form {
	f.Encoding = valueGzip
	return f
}

var valueGzip = []string{"gzip"}

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

// Success is the body {"status":"success","<key>":…} (spec 2.1), its value ready JSON in parts.
func Success(key string, parts ...string) []byte {
	size := len(key) + 32
	for _, part := range parts {
		size += len(part)
	}
	return AppendSuccess(make([]byte, 0, size), key, parts)
}

// AppendSuccess appends what [Success] returns.
func AppendSuccess(b []byte, key string, parts []string) []byte {
	b = BeginSuccess(b, key)
	for _, part := range parts {
		b = append(b, part...)
	}
	return append(b, '}')
}

// BeginSuccess appends an envelope up to its value. key needs no JSON escaping.
func BeginSuccess(b []byte, key string) []byte {
	b = append(b, `{"status":"success","`...)
	b = append(b, key...)
	return append(b, `":`...)
}
