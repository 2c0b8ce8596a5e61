package web

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/prepared"
)

// numbered is a body in which no two places look alike.
func numbered(length int) []byte {
	body := make([]byte, 0, length+20)
	for i := 0; len(body) < length; i++ {
		body = append(body, []byte(`{"line":`+strings.Repeat("0", i%7))...)
		body = append(body, byte('a'+i%26), byte('a'+i/26%26), byte('a'+i/676%26), '}')
	}
	return body[:length]
}

const longAnswer = 1 << 20

func TestManyGetALongAnswerAtOnce(t *testing.T) {
	body := numbered(3*longAnswer + 1)
	p := prepared.New(bytes.Clone(body))
	server := httptest.NewUnstartedServer(NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error { return ServePrepared(w, r, p) }))
	server.Listener = capConnections(server.Listener, ServerOptions{})
	server.Start()
	defer server.Close()
	client := server.Client()
	client.Transport.(*http.Transport).DisableCompression = true
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 2 { // on one connection
				r, err := client.Get(server.URL)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(r.Body)
				r.Body.Close()
				if err != nil || !bytes.Equal(got, body) || r.ContentLength != int64(len(body)) {
					t.Errorf("%d of %d bytes, error %v", len(got), len(body), err)
				}
			}
		})
	}
	all.Wait()
}

func TestHEADOfALongAnswerHasNoBody(t *testing.T) {
	p := prepared.New(numbered(longAnswer))
	server := httptest.NewServer(NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error { return ServePrepared(w, r, p) }))
	defer server.Close()
	r := must.Get(server.Client().Head(server.URL))(t)
	defer r.Body.Close()
	if got, err := io.ReadAll(r.Body); err != nil || len(got) > 0 || r.ContentLength != longAnswer {
		t.Errorf("%d bytes, length %d, error %v", len(got), r.ContentLength, err)
	}
}
