package web

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
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

func TestLongAnswersLieInAFile(t *testing.T) {
	for length, want := range map[int]bool{0: false, fileFrom - 1: false, fileFrom: runtime.GOOS == "linux"} {
		c := keep(numbered(length))
		if (c.file != nil) != want || (c.file != nil) == (c.bytes != nil) || c.length != int64(length) {
			t.Errorf("%d bytes: file %v, %d bytes beside it, length %d", length, c.file != nil, len(c.bytes), c.length)
		}
	}
}

func TestManyGetALongAnswerAtOnce(t *testing.T) {
	body := numbered(3*fileFrom + 1)
	p := Prepare(bytes.Clone(body))
	server := httptest.NewUnstartedServer(NewEdge(Options{}).Wrap(p.Serve))
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
	p := Prepare(numbered(fileFrom))
	server := httptest.NewServer(NewEdge(Options{}).Wrap(p.Serve))
	defer server.Close()
	r, err := server.Client().Head(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if got, err := io.ReadAll(r.Body); err != nil || len(got) > 0 || r.ContentLength != fileFrom {
		t.Errorf("%d bytes, length %d, error %v", len(got), r.ContentLength, err)
	}
}

func TestAClientThatDoesNotReadALongAnswerIsLeft(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/long")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(1 << 30); err != nil { // more than the kernel keeps for a client
		t.Fatal(err)
	}
	server, client := connected(t)
	defer client.Close()
	defer server.Close()
	if err := server.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := server.(io.ReaderFrom).ReadFrom(file); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes, error %v", n, err)
	}
	if _, err := server.(io.ReaderFrom).ReadFrom(file); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: error %v", err)
	}
	if err := server.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if n, err := server.(io.ReaderFrom).ReadFrom(strings.NewReader("")); n != 0 || err != nil {
		t.Errorf("without a deadline: %d bytes, error %v", n, err)
	}
}

// connected are both ends of a connection that a server of ours has accepted.
func connected(t *testing.T) (server, client net.Conn) {
	t.Helper()
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	capped := capConnections(ln, ServerOptions{})
	t.Cleanup(func() { _ = capped.Close() })
	if client, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = capped.Accept(); err != nil {
		t.Fatal(err)
	}
	return server, client
}
