package web

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestBaseURL(t *testing.T) {
	forward := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return h
	}
	const proxy, stranger = "10.0.0.1:1", "203.0.113.7:1"
	tests := []struct {
		name, peer, host string
		tls              bool
		header           http.Header
		want             string
	}{
		{"host and port", stranger, "store.example:8080", false, nil, "http://store.example:8080"},
		{"over TLS", stranger, "store.example", true, nil, "https://store.example"},
		{"in lower case", stranger, "Store.Example", false, nil, "http://store.example"},
		{"IPv4", stranger, "192.0.2.1:80", false, nil, "http://192.0.2.1:80"},
		{"IPv6", stranger, "[2001:db8::1]:80", false, nil, "http://[2001:db8::1]:80"},
		{"IPv6 without a port", stranger, "[::1]", false, nil, "http://[::1]"},
		{"a stranger's headers are not believed", stranger, "a.example", false, forward("X-Forwarded-Proto", "https", "X-Forwarded-Host", "evil.example"), "http://a.example"},
		{"a proxy's headers are", proxy, "inner:8080", false, forward("X-Forwarded-Proto", "https", "X-Forwarded-Host", "a.example"), "https://a.example"},
		{"a proxy's scheme alone", proxy, "a.example", false, forward("X-Forwarded-Proto", "HTTPS"), "https://a.example"},
		{"the nearest proxy's word counts", proxy, "inner", false, forward("X-Forwarded-Host", "evil.example, a.example"), "http://a.example"},
		{"a scheme that is none", proxy, "a.example", false, forward("X-Forwarded-Proto", "javascript"), "http://a.example"},
		{"a forwarded host that is none", proxy, "inner", false, forward("X-Forwarded-Host", "a/b"), "http://127.0.0.1:8080"},

		{"no host", stranger, "", false, nil, "http://127.0.0.1:8080"},
		{"a path", stranger, "a.example/x", false, nil, "http://127.0.0.1:8080"},
		{"a user", stranger, "u@a.example", false, nil, "http://127.0.0.1:8080"},
		{"markup", stranger, "<script>", false, nil, "http://127.0.0.1:8080"},
		{"a quote", stranger, `a"b`, false, nil, "http://127.0.0.1:8080"},
		{"white space", stranger, "a b", false, nil, "http://127.0.0.1:8080"},
		{"letters beyond ASCII", stranger, "ä.example", false, nil, "http://127.0.0.1:8080"},
		{"an empty label", stranger, "a..example", false, nil, "http://127.0.0.1:8080"},
		{"a hyphen at the edge", stranger, "-a.example", false, nil, "http://127.0.0.1:8080"},
		{"an endless label", stranger, strings.Repeat("a", 64), false, nil, "http://127.0.0.1:8080"},
		{"an endless name", stranger, strings.Repeat("a.", 200) + "a", false, nil, "http://127.0.0.1:8080"},
		{"a port that is none", stranger, "a.example:http", false, nil, "http://127.0.0.1:8080"},
		{"no port after the colon", stranger, "a.example:", false, nil, "http://127.0.0.1:8080"},
		{"a port too high", stranger, "a.example:65536", false, nil, "http://127.0.0.1:8080"},
		{"port 0", stranger, "a.example:0", false, nil, "http://127.0.0.1:8080"},
		{"a signed port", stranger, "a.example:+80", false, nil, "http://127.0.0.1:8080"},
		{"a port without its colon", stranger, "[::1]80", false, nil, "http://127.0.0.1:8080"},
		{"a zone", stranger, "[fe80::1%25eth0]", false, nil, "http://127.0.0.1:8080"},
		{"IPv4 in brackets", stranger, "[192.0.2.1]", false, nil, "http://127.0.0.1:8080"},
		{"an open bracket", stranger, "[::1", false, nil, "http://127.0.0.1:8080"},
	}
	e := NewEdge(Options{TrustedProxies: prefixes(t, "10.0.0.0/8")})
	own := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, own))
			r.Host, r.RemoteAddr, r.Header = tt.host, tt.peer, tt.header
			if tt.tls {
				r.TLS = &tls.ConnectionState{}
			}
			var got string
			e.Wrap(func(w http.ResponseWriter, r *http.Request) error {
				got = BaseURL(w, r)
				return nil
			}).ServeHTTP(httptest.NewRecorder(), r)
			expect.Equal(t, got, tt.want)
		})
	}
}

func TestBaseURLWithoutAListener(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Host = "junk/"
	expect.Equal(t, BaseURL(httptest.NewRecorder(), r), "http://localhost")
}
