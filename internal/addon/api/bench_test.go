package api_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// BenchmarkSettings is one read of the public settings over a connection that
// stays open, beside a bare net/http handler that writes the same bytes.
func BenchmarkSettings(b *testing.B) {
	s := filled(b, dbtest.New(b, dbtest.SQLite)).run(b)
	s.awaitMemory(b)
	h := api.New(s.Addon, options())
	answer := get(h, "/api-addons/app/settings")
	header, body := answer.Header(), answer.Body.Bytes()
	for name, handler := range map[string]http.Handler{
		"addon": h,
		"bare": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for name, values := range header {
				w.Header()[name] = values
			}
			_, _ = w.Write(body)
		}),
	} {
		b.Run(name, func(b *testing.B) { overOneConnection(b, handler) })
	}
}

func overOneConnection(b *testing.B, h http.Handler) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(b)
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	conn := must.Get(net.Dial("tcp", listener.Addr().String()))(b)
	defer conn.Close()
	request := []byte("GET /api-addons/app/settings HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/json\r\nx-api-key: k\r\n\r\n")
	buffer := make([]byte, 16<<10)
	read := func() int {
		must.Get(conn.Write(request))(b)
		return must.Get(conn.Read(buffer))(b)
	}
	whole := read()
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		for n := read(); n < whole; {
			more := must.Get(io.ReadFull(conn, buffer[:whole-n]))(b)
			n += more
		}
	}
}
