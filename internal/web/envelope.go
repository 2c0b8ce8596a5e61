package web

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/prepared"
)

// OK writes 200 with {"status":"success","<key>":v} (spec 2.1). key needs no JSON escaping. If v can't be encoded, it
// returns an error and has written nothing. A client that has disconnected is not an error.
func OK(w http.ResponseWriter, _ *http.Request, key string, v any) error {
	pooled := buffers.Get().(*[]byte)
	defer putBuffer(pooled)
	b := prepared.BeginSuccess((*pooled)[:0], key)
	b, err := countersign.AppendJSON(b, v)
	if err != nil {
		return fmt.Errorf("web: encode %q: %w", key, err)
	}
	b = append(b, '}')
	*pooled = b
	send(w, http.StatusOK, b)
	return nil
}

// Object writes 200 with v as JSON: an object with its own status, beside which it has more than one member. Otherwise it
// is as [OK].
func Object(w http.ResponseWriter, v any) error { return object(w, http.StatusOK, v) }

// Accepted is [Object] with 202, for work that is not done yet.
func Accepted(w http.ResponseWriter, v any) error { return object(w, http.StatusAccepted, v) }

func object(w http.ResponseWriter, status int, v any) error {
	b, err := countersign.EncodeJSON(v)
	if err != nil {
		return fmt.Errorf("web: encode an object: %w", err)
	}
	send(w, status, b)
	return nil
}

// Success answers 200 with {"status":"success","<key>":…}, its value ready JSON in parts.
func Success(w http.ResponseWriter, key string, parts ...string) {
	pooled := buffers.Get().(*[]byte)
	defer putBuffer(pooled)
	*pooled = prepared.AppendSuccess((*pooled)[:0], key, parts)
	send(w, http.StatusOK, *pooled)
}

// send writes a whole JSON answer. A failed write means that the client has left, and there is nobody to tell.
func send(w http.ResponseWriter, status int, body []byte) {
	w.Header()["Content-Type"] = valueJSON
	setLength(w, len(body))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func setLength(w http.ResponseWriter, n int) {
	if a, ok := w.(*response); ok {
		a.setLength(n)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(n))
}

// buffers pools the buffers for encoding responses.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 4096)) }}

// maxPooledBytes is the size above which a buffer is left to the garbage collector.
const maxPooledBytes = 64 << 10

func putBuffer(b *[]byte) {
	if cap(*b) <= maxPooledBytes {
		buffers.Put(b)
	}
}
