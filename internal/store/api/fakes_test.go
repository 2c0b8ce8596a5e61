package api_test

import (
	"io"
	"net/http"
	"strings"
)

// repeatable is a body that can be filled again.
type repeatable struct{ strings.Reader }

func (*repeatable) Close() error { return nil }

// discard is a ResponseWriter that costs nothing.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(b []byte) (int, error) { return io.Discard.Write(b) }
