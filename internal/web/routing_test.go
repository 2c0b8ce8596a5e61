package web

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestRouting(t *testing.T) {
	notFound := `{"status":"error","msg":"Not found"}`
	notAllowed := `{"status":"error","msg":"Method not allowed"}`
	data := func(s string) string { return `{"status":"success","data":"` + s + `"}` }
	tests := []struct {
		name, method, target string
		status               int
		allow, body          string
	}{
		{"a known path", "GET", "/api/items/all", 200, "", data("items")},
		{"one trailing slash is served", "GET", "/api/items/all/", 200, "", data("items")},
		{"a trailing slash is served on POST", "POST", "/api/purchases/validation/", 200, "", data("purchase")},
		{"repeated slashes are served", "GET", "//api///items//all", 200, "", data("items")},
		{"dot segments are resolved", "GET", "/api/x/../items/./all", 200, "", data("items")},
		{"dot segments don't leave the root", "GET", "/../../api/items/all", 200, "", data("items")},
		{"a query survives cleaning", "GET", "/api//items/all/?a=b", 200, "", data("items")},
		{"an encoded slash stays data", "GET", "/files/a%2Fb", 200, "", data("a/b")},
		{"an encoded slash stays data when the path is cleaned", "GET", "//files/a%2Fb/", 200, "", data("a/b")},
		{"encoded dots stay data", "GET", "/api/x/%2e%2e/items/all", 404, "", notFound},
		{"an encoded letter is that letter", "GET", "/api/items/%61ll", 200, "", data("items")},
		{"a name that begins with a dot is no dot segment", "GET", "/files/.well-known", 200, "", data(".well-known")},
		{"a subtree with its slash", "GET", "/docs/", 200, "", data("docs:/docs/")},
		{"a subtree without its slash is served, not redirected", "GET", "/docs", 200, "", data("docs:/docs/")},
		{"a page in a subtree", "GET", "/docs/a/b/", 200, "", data("docs:/docs/a/b")},
		{"the root", "GET", "/", 200, "", data("root")},
		{"an absolute target", "GET", "http://store.example/api/items/all", 200, "", data("items")},
		{"a handler's own redirect gets through", "GET", "/moved", 303, "", ""},

		{"an unknown path", "GET", "/nope", 404, "", notFound},
		{"an unknown path with a slash", "GET", "/nope/", 404, "", notFound},
		{"an unknown path on POST", "POST", "/api/nope", 404, "", notFound},
		{"letter case counts in paths", "GET", "/API/items/all", 404, "", notFound},
		{"OPTIONS on an unknown path", "OPTIONS", "/nope", 404, "", notFound},
		{"a target of * with GET", "GET", "*", 404, "", notFound},

		{"POST where only GET is", "POST", "/api/items/all", 405, "GET, HEAD, OPTIONS", notAllowed},
		{"GET where only POST is", "GET", "/api/purchases/validation", 405, "POST, OPTIONS", notAllowed},
		{"HEAD where only POST is", "HEAD", "/api/purchases/validation", 405, "POST, OPTIONS", ""},
		{"DELETE where GET and POST are", "DELETE", "/api/both", 405, "GET, HEAD, POST, OPTIONS", notAllowed},
		{"a wrong method with a trailing slash", "POST", "/api/items/all/", 405, "GET, HEAD, OPTIONS", notAllowed},
		{"a wrong method on a subtree", "POST", "/docs", 405, "GET, HEAD, OPTIONS", notAllowed},
		{"an invented method", "BREW", "/api/both", 405, "GET, HEAD, POST, OPTIONS", notAllowed},
		{"methods are in capitals", "get", "/api/both", 405, "GET, HEAD, POST, OPTIONS", notAllowed},
		{"TRACE", "TRACE", "/api/both", 405, "GET, HEAD, POST, OPTIONS", notAllowed},
		{"TRACE where every method is taken", "TRACE", "/any", 405, "DELETE, GET, HEAD, PATCH, POST, PUT, OPTIONS", notAllowed},
		{"TRACE on an unknown path", "TRACE", "/nope", 405, "", notAllowed},
		{"CONNECT", "CONNECT", "/api/both", 405, "GET, HEAD, POST, OPTIONS", notAllowed},

		{"OPTIONS on a known path", "OPTIONS", "/api/both", 204, "GET, HEAD, POST, OPTIONS", ""},
		{"OPTIONS on a subtree without its slash", "OPTIONS", "/docs", 204, "GET, HEAD, OPTIONS", ""},
		{"OPTIONS on everything", "OPTIONS", "*", 204, "", ""},
		{"OPTIONS where a handler takes it", "OPTIONS", "/any", 200, "", data("any")},
		{"HEAD where GET is", "HEAD", "/api/items/all", 200, "", ""},
	}
	handler := testFrontEnd(Options{})
	for _, tt := range slices.Concat(tests, tests) { // the second time the mux need not be asked
		t.Run(tt.name, func(t *testing.T) {
			res := serveOne(t, handler, tt.method, tt.target)
			expect.Equalf(t, res.StatusCode, tt.status, "status")
			expect.Equalf(t, res.Header.Get("Allow"), tt.allow, "Allow")
			expect.Equalf(t, bodyOf(t, res), tt.body, "body")
			if res.StatusCode != 303 && res.Header.Get("Location") != "" {
				t.Errorf("Location %q", res.Header.Get("Location"))
			}
		})
	}
}

func TestARouteHasItsPatternWheneverItIsAsked(t *testing.T) {
	patterns := []string{"GET /one", "POST /one", "GET /one/{id}", "GET /one/two"}
	mux, e := http.NewServeMux(), NewEdge(Options{})
	for _, pattern := range patterns {
		mux.Handle(pattern, e.Wrap(func(w http.ResponseWriter, r *http.Request) error {
			return OK(w, r, "data", r.Pattern)
		}))
	}
	handler := e.Handler(mux)
	for range 2 {
		for target, want := range map[string]string{"GET /one": "GET /one", "POST /one": "POST /one", "GET /one/7": "GET /one/{id}", "GET /one/%74wo": "GET /one/two", "GET /one/two": "GET /one/two"} {
			method, path, _ := strings.Cut(target, " ")
			if got := bodyOf(t, serveOne(t, handler, method, path)); got != `{"status":"success","data":"`+want+`"}` {
				t.Errorf("%s: %s, want the pattern %s", target, got, want)
			}
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"/api/items/all", "/docs", "/docs/..", "//", "/%2e%2e/", "/a%2f/../b", "/;/.", "/\x00"} {
		f.Add(s)
	}
	handler := testFrontEnd(Options{})
	f.Fuzz(func(t *testing.T, path string) {
		r := httptest.NewRequest("GET", "/", nil)
		u, err := r.URL.Parse("http://store.example" + path)
		if err != nil || u.Host != "store.example" {
			return // not a path of the store
		}
		r.URL = u
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != 200 && w.Code != 404 && w.Code != 303 {
			t.Errorf("%q: status %d", path, w.Code)
		}
		if w.Code != 303 && w.Header().Get("Location") != "" {
			t.Errorf("%q: redirected to %q", path, w.Header().Get("Location"))
		}
	})
}

func TestOtherMuxesAreAskedForPathsThatTheFirstDoesNotKnow(t *testing.T) {
	e := NewEdge(Options{})
	says := func(text string) http.Handler {
		return e.Wrap(func(w http.ResponseWriter, r *http.Request) error {
			return OK(w, r, "data", text+" "+r.URL.Path)
		})
	}
	first, second, third := http.NewServeMux(), http.NewServeMux(), http.NewServeMux()
	first.Handle("GET /data", says("first"))
	second.Handle("GET /data/{id}", says("second"))
	second.Handle("GET /pages/", says("second"))
	third.Handle("GET /pages", says("third"))
	third.Handle("/any/", says("third"))
	handler := e.Handler(first, second, third)
	for _, tt := range []struct {
		name, method, target string
		status               int
		allow, contains      string
	}{
		{"the first knows it", "GET", "/data", 200, "", `"first /data"`},
		{"the second knows it", "GET", "/data/7/", 200, "", `"second /data/7"`},
		{"the second knows it with a slash: nobody is redirected", "GET", "/pages", 200, "", `"second /pages/"`},
		{"the third knows it", "POST", "/any/thing", 200, "", `"third /any/thing"`},
		{"a wrong method of the first is not asked about elsewhere", "POST", "/data", 405, "GET, HEAD, OPTIONS", "Method not allowed"},
		{"a wrong method of the second", "POST", "/data/7", 405, "GET, HEAD, OPTIONS", "Method not allowed"},
		{"nobody knows it", "GET", "/nothing", 404, "", "Not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := serveOne(t, handler, tt.method, tt.target)
			body := bodyOf(t, res)
			if res.StatusCode != tt.status || res.Header.Get("Allow") != tt.allow || !strings.Contains(body, tt.contains) || res.Header.Get("Location") != "" {
				t.Errorf("%d %v %s", res.StatusCode, res.Header, body)
			}
		})
	}
}
