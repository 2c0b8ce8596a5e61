package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/webtest"
)

func TestRefusalsOfTheServerAreErrorsOfTheFrontEnd(t *testing.T) {
	const host = "Host: a\r\n"
	tests := []struct {
		name, request string
		status        int
		code, message string
	}{
		{"a request line of one word", "GET\r\n\r\n", 400, "bad_request", "Invalid request"},
		{"no host", "GET /api/items/all HTTP/1.1\r\n\r\n", 400, "bad_request", "Invalid request"},
		{"a header with a space in its name", "GET / HTTP/1.1\r\n" + host + "A b: c\r\n\r\n", 400, "bad_request", "Invalid request"},
		{"a length and chunks", "POST / HTTP/1.1\r\n" + host + "Content-Length: x\r\n\r\n", 400, "bad_request", "Invalid request"},
		{"a large header", "GET / HTTP/1.1\r\n" + host + "A: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", 431, "header_too_large", "Request header too large"},
		{"an expectation", "POST / HTTP/1.1\r\n" + host + "Expect: 200-ok\r\nContent-Length: 0\r\n\r\n", 417, "expectation_failed", "Expectation failed"},
		{"an encoding of the transfer", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501, "transfer_encoding", "Transfer encoding not supported"},
		{"HTTP/2 without its beginning", "GET / HTTP/2.0\r\n" + host + "\r\n", 505, "http_version", "HTTP version not supported"},
	}
	h := NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error { return OK(w, r, "data", "x") })
	store, addon := start(t, h, ServerOptions{}), start(t, h, ServerOptions{ErrorBody: DetailedBody})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := webtest.Unfinished(t, "http://"+store.addr, tt.request)
			got := bodyOf(t, res)
			if want := `{"status":"error","msg":"` + tt.message + `"}`; res.StatusCode != tt.status || got != want || res.ContentLength != int64(len(got)) {
				t.Errorf("%s %s, want %d %s", res.Status, got, tt.status, want)
			}
			h := res.Header
			if h.Get("X-Error-Code") != tt.code || h.Get("Content-Type") != valueJSON[0] || h.Get("Cache-Control") != "no-store" || !res.Close {
				t.Errorf("header %v, the connection's last: %v", h, res.Close)
			}
			var detailed struct{ Message, Code string }
			text := bodyOf(t, webtest.Unfinished(t, "http://"+addon.addr, tt.request))
			if err := json.Unmarshal([]byte(text), &detailed); err != nil || detailed.Message != tt.message || detailed.Code != tt.code {
				t.Errorf("with a body of its own: %s", text)
			}
		})
	}
}

func TestWhatHandlersWriteIsNoRefusal(t *testing.T) {
	for name, text := range map[string]string{
		"a handler's 400":  "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nDate: x\r\nConnection: close\r\n\r\n",
		"a success":        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n",
		"a part of a body": "HTTP/1.1 says 417",
		"nothing":          "",
	} {
		if line, _ := refusalOf([]byte(text)); line != nil {
			t.Errorf("%s: %q", name, line)
		}
	}
}

// A client could otherwise be shown a part of the next response of its connection as the end of this one.
func TestABodyThatLooksLikeARefusalIsSentAsItIs(t *testing.T) {
	body := strings.Repeat("HTTP/1.1 417\r\n\r\n", 8<<10)
	h := NewEdge(Options{}).Wrap(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		for piece := range slices.Chunk([]byte(body), 16<<10) {
			_, _ = w.Write(piece)
			_ = http.NewResponseController(w).Flush()
		}
		return nil
	})
	res := webtest.Unfinished(t, "http://"+start(t, h, ServerOptions{}).addr, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if got := bodyOf(t, res); got != body {
		t.Errorf("%d bytes, want %d; they begin with %.40q", len(got), len(body), got)
	}
}
