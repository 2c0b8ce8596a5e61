package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/must"
)

// memoryListener listens for connections in memory, whose deadlines are those of the bubble.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *memoryListener) Close() error   { close(p.closed); return nil }
func (p *memoryListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func TestAnAnswerThatTookLongIsWritten(t *testing.T) {
	unavailable := &countersign.Error{Kind: countersign.KindUnavailable, Code: countersign.CodeOutcomeUnknown, Message: "m"}
	for name, handle := range map[string]Handler{
		"503": func(http.ResponseWriter, *http.Request) error { return unavailable },
		"200": func(w http.ResponseWriter, _ *http.Request) error { send(w, http.StatusOK, healthy); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mux := http.NewServeMux()
				edge := NewEdge(Options{})
				mux.Handle("POST /slow", edge.Wrap(func(w http.ResponseWriter, r *http.Request) error {
					if _, err := io.ReadAll(r.Body); err != nil {
						return err
					}
					time.Sleep(writeTimeout) // the waits for the database add up to this, by the bubble's clock
					return handle(w, r)
				}))
				ln := &memoryListener{make(chan net.Conn), make(chan struct{})}
				srv := newServer(edge.Handler(mux), ServerOptions{})
				served := make(chan error)
				go func() { served <- srv.Serve(ln) }()
				client, server := net.Pipe()
				ln.conns <- server
				io.WriteString(client, "POST /slow HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 1\r\n\r\n")
				time.Sleep(readTimeout - time.Second) // of the bubble's clock
				io.WriteString(client, "x")
				answer := must.Get(http.ReadResponse(bufio.NewReader(client), nil))(t)
				if !strings.HasPrefix(answer.Status, name) {
					t.Errorf("status %s", answer.Status)
				}
				client.Close()
				srv.Close()
				<-served
			})
		})
	}
}
