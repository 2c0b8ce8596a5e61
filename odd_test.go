package countersign

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// testKey looks like the keys in the field. The slash has another form in a query.
const testKey = "csk_0123456789/abcdefghijklmnopqrstuvwxyz"

// odd is one prepared answer of a store that need not be one of ours.
type odd struct {
	status int
	header map[string]string
	body   string
}

func (o odd) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for name, value := range o.header {
		w.Header().Set(name, value)
	}
	if o.status != 0 {
		w.WriteHeader(o.status)
	}
	_, _ = io.WriteString(w, o.body)
}

// seen is what a server got to see of one request.
type seen struct {
	method, uri, body string
	header            http.Header
}

// oddServer answers every request with h over real HTTP and keeps what it saw.
type oddServer struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

func serve(t *testing.T, h http.Handler) *oddServer {
	t.Helper()
	s := &oddServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, seen{r.Method, r.RequestURI, string(body), r.Header})
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *oddServer) requests() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// once is a client that makes one attempt.
func (s *oddServer) once() *Client {
	return &Client{BaseURL: s.URL, Key: testKey, HTTP: s.Client(), Retries: -1}
}

// answering is a client of one attempt whose store gives one answer.
func answering(t *testing.T, o odd) *Client {
	t.Helper()
	return serve(t, o).once()
}

// roundTrip is a transport without a network, for tests in a synctest bubble.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// response is what o looks like to a client.
func (o odd) response() *http.Response {
	w := httptest.NewRecorder()
	o.ServeHTTP(w, nil)
	return w.Result()
}

// envelope is an error envelope of a store.
func envelope(msg string) string {
	return `{"status":"error","msg":"` + msg + `"}`
}

const page = "<!DOCTYPE html><title>404 Not Found</title><h1>Not Found</h1>"

// validated is a success of purchase validation, about the purchase of the given code.
func validated(code string) string {
	return `{"status":"success","data":{"purchase":{"purchase_code":"` + code + `","item":{"id":1229}}}}`
}

// pad creates an answer of n bytes by white space inside of it.
func pad(answer string, n int) string {
	return strings.Replace(answer, ":", ":"+strings.Repeat(" ", n-len(answer)), 1)
}
