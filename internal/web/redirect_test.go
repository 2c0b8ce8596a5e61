package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestPlainHTTPBesideTLS(t *testing.T) {
	for _, tt := range []struct {
		name, method, target, header string
		base                         string
		port, status                 int
		to                           string
	}{
		{"a page", "GET", "/w/1/items?page=2", "", "https://shop.example", 443, 301, "https://shop.example/w/1/items?page=2"},
		{"its header", "HEAD", "/", "", "https://shop.example", 443, 301, "https://shop.example/"},
		{"below a path", "GET", "/docs", "", "https://shop.example/shop", 443, 301, "https://shop.example/shop/docs"},
		{"without a base URL", "GET", "/docs", "", "", 443, 301, "https://asked.example/docs"},
		{"and on another port", "GET", "/docs", "", "", 8443, 301, "https://asked.example:8443/docs"},
		{"a path that looks like a host", "GET", "//evil.example/x", "", "https://shop.example", 443, 301, "https://shop.example/evil.example/x"},
		{"a target that would add to the host", "GET", "http:@evil.example/", "", "https://shop.example", 443, 301, "https://shop.example/"},
		{"a form", "POST", "/login", "", "https://shop.example", 443, 403, ""},
		{"a call", "GET", "/api/items/all", "", "https://shop.example", 443, 403, ""},
		{"a call in other letters", "GET", "/API/items/all", "", "https://shop.example", 443, 403, ""},
		{"a call with more slashes", "GET", "//api//items/all", "", "https://shop.example", 443, 403, ""},
		{"a call that validates", "POST", "/api/purchases/validation", "", "https://shop.example", 443, 403, ""},
		{"a call of the addon", "GET", "/api-addons/app/settings", "", "https://shop.example", 443, 403, ""},
		{"a key in a header", "GET", "/docs", "X-Api-Key", "https://shop.example", 443, 403, ""},
		{"a password in a header", "GET", "/docs", "Authorization", "https://shop.example", 443, 403, ""},
		{"a key in the query", "GET", "/docs?api_key=x", "", "https://shop.example", 443, 403, ""},
		{"the keys of licenses", "GET", "/.well-known/jwks.json", "", "https://shop.example", 443, 403, ""},
		{"the description of the API", "GET", "/openapi.json", "", "https://shop.example", 443, 403, ""},
		{"a check of readiness", "GET", "/readyz", "", "https://shop.example", 443, 403, ""},
		{"a path that begins like an API", "GET", "/apiary", "", "https://shop.example", 443, 301, "https://shop.example/apiary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, "http://asked.example:8080/", nil)
			r.RequestURI = tt.target
			var err error
			if r.URL, err = url.ParseRequestURI(tt.target); err != nil {
				t.Fatal(err)
			}
			if tt.header != "" {
				r.Header.Set(tt.header, "x")
			}
			w := httptest.NewRecorder()
			NewEdge(Options{}).ToHTTPS(tt.base, tt.port).ServeHTTP(w, r)
			if w.Code != tt.status || w.Header().Get("Location") != tt.to {
				t.Errorf("%d, to %q", w.Code, w.Header().Get("Location"))
			}
			if tt.status == http.StatusForbidden && w.Header().Get("X-Error-Code") != "https_needed" {
				t.Errorf("code %q", w.Header().Get("X-Error-Code"))
			}
		})
	}
}
