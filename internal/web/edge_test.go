package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

const success = `{"status":"success","data":"x"}`

// say creates a handler that answers 200 with a fixed body.
func say(text string) Handler {
	return func(w http.ResponseWriter, r *http.Request) error { return OK(w, r, "data", text) }
}

// testFrontEnd is a front end with a route of each sort.
func testFrontEnd(o Options) http.Handler {
	e := NewEdge(o)
	mux := http.NewServeMux()
	mux.Handle("GET /api/items/all", e.Wrap(say("items")))
	mux.Handle("GET /api/both", e.Wrap(say("get")))
	mux.Handle("POST /api/both", e.Wrap(say("post")))
	mux.Handle("POST /api/purchases/validation", e.Wrap(say("purchase")))
	mux.Handle("GET /files/{name}", e.Wrap(func(w http.ResponseWriter, r *http.Request) error {
		return OK(w, r, "data", r.PathValue("name"))
	}))
	mux.Handle("GET /docs/", e.Wrap(func(w http.ResponseWriter, r *http.Request) error {
		return OK(w, r, "data", "docs:"+r.URL.Path)
	}))
	mux.Handle("/any", e.Wrap(say("any")))
	mux.Handle("GET /{$}", e.Wrap(say("root")))
	mux.Handle("GET /moved", e.Wrap(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusSeeOther)
		return nil
	}))
	return e.Handler(mux)
}

// serveOne answers one request that net/http parsed from text, so that odd targets are what a client would send.
func serveOne(t *testing.T, h http.Handler, method, target string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, res *http.Response) string {
	t.Helper()
	return string(must.Get(io.ReadAll(res.Body))(t))
}

func TestEveryAnswerHasTheDefaultHeaders(t *testing.T) {
	handler := testFrontEnd(Options{})
	hex16 := regexp.MustCompile(`^[0-9a-f]{16}$`)
	seen := map[string]bool{}
	for _, target := range []string{"/api/items/all", "/nope", "/docs", "/api/purchases/validation"} {
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS", "TRACE"} {
			h := serveOne(t, handler, method, target).Header
			id := h.Get("X-Request-Id")
			if !hex16.MatchString(id) || seen[id] {
				t.Errorf("%s %s: request id %q", method, target, id)
			}
			seen[id] = true
			for name, want := range map[string]string{
				"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			} {
				if got := h[name]; len(got) != 1 || got[0] != want {
					t.Errorf("%s %s: %s is %q", method, target, name, got)
				}
			}
		}
	}
}

func TestAClientCanNotChooseTheRequestID(t *testing.T) {
	r := httptest.NewRequest("GET", "/api/items/all", nil)
	r.Header.Set("X-Request-Id", "mine")
	w := httptest.NewRecorder()
	testFrontEnd(Options{}).ServeHTTP(w, r)
	if got := w.Header()["X-Request-Id"]; len(got) != 1 || got[0] == "mine" {
		t.Errorf("X-Request-Id %q", got)
	}
}

func TestHandlersSeeTheirRequest(t *testing.T) {
	e := NewEdge(Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	h := e.Wrap(func(w http.ResponseWriter, r *http.Request) error {
		return OK(w, r, "data", RequestID(w)+" "+ClientAddr(w).String())
	})
	r := httptest.NewRequest("GET", "/", nil) // comes from 192.0.2.1
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	want := `{"status":"success","data":"` + w.Header().Get("X-Request-Id") + ` 203.0.113.9"}`
	expect.Equalf(t, w.Body.String(), want, "got %s", w.Body)
}

// passing is a ResponseWriter such as a session middleware puts around ours.
type passing struct{ http.ResponseWriter }

func (p passing) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func TestAMiddlewareMayWrapTheWriter(t *testing.T) {
	e := NewEdge(Options{})
	inner := e.Wrap(func(w http.ResponseWriter, _ *http.Request) error {
		if RequestID(w) == "" {
			t.Error("no request id under the middleware")
		}
		Always200(w)
		return errNotFound()
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /x", func(w http.ResponseWriter, r *http.Request) { inner.ServeHTTP(passing{w}, r) })
	res := serveOne(t, e.Handler(mux), "GET", "/x")
	if res.StatusCode != 200 || res.Header.Get("X-Error-Code") != "not_found" {
		t.Errorf("status %d, code %q", res.StatusCode, res.Header.Get("X-Error-Code"))
	}
}

func TestWithoutAnEdgeThereIsNothingToAsk(t *testing.T) {
	w := httptest.NewRecorder()
	Annotate(w, "web")
	Always200(w)
	if RequestID(w) != "" || ClientAddr(w).IsValid() {
		t.Error("a bare ResponseWriter knows a request")
	}
}

// logged collects what an edge logs.
func logged() (*bytes.Buffer, *slog.Logger) {
	var b bytes.Buffer
	return &b, slog.New(slog.NewTextHandler(&b, nil))
}

func TestAPanicIsAnswered(t *testing.T) {
	out, log := logged()
	e := NewEdge(Options{Log: log})
	mux := http.NewServeMux()
	mux.Handle("GET /panic", e.Wrap(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", "7")
		w.Header().Set("Set-Cookie", "session=1")
		panic("the secret plan")
	}))
	srv := httptest.NewServer(e.Handler(mux))
	defer srv.Close()
	for range 2 { // the second request goes over the same connection
		res := must.Get(srv.Client().Get(srv.URL + "/panic"))(t)
		body := bodyOf(t, res)
		_ = res.Body.Close()
		if res.StatusCode != 500 || body != `{"status":"error","msg":"Internal error"}` {
			t.Errorf("%d %s", res.StatusCode, body)
		}
		for _, name := range []string{"Content-Encoding", "Set-Cookie"} {
			expect.Equalf(t, res.Header.Get(name), "", "%s of the unfinished answer was sent", name)
		}
		if res.Header.Get("X-Request-Id") == "" || res.Header.Get("X-Error-Code") != "internal" {
			t.Errorf("headers %v", res.Header)
		}
		if !strings.Contains(out.String(), res.Header.Get("X-Request-Id")) {
			t.Error("the log does not name the request")
		}
	}
	for _, want := range []string{"the secret plan", "edge_test.go", "route=/panic"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, out)
		}
	}
}

func TestABrokenOffAnswerIsNotTakenForAWholeOne(t *testing.T) {
	tests := map[string]Handler{
		"a panic in the middle": func(w http.ResponseWriter, _ *http.Request) error {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic("x")
		},
		"an error in the middle": func(w http.ResponseWriter, _ *http.Request) error {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			return errors.New("x")
		},
		"net/http's own abort": func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) },
	}
	for name, h := range tests {
		t.Run(name, func(t *testing.T) {
			out, log := logged()
			srv := httptest.NewUnstartedServer(NewEdge(Options{Log: log}).Wrap(h))
			srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
			srv.Start()
			res, err := srv.Client().Get(srv.URL)
			if err == nil {
				_, err = io.ReadAll(res.Body)
				_ = res.Body.Close()
			}
			if err == nil {
				t.Error("the client took the answer for whole")
			}
			srv.Close()
			if wantLog := name != "net/http's own abort"; wantLog != (out.Len() > 0) {
				t.Errorf("log: %s", out)
			}
		})
	}
}

func TestAHandlerThatWritesNothingAnswers200(t *testing.T) {
	e := NewEdge(Options{})
	mux := http.NewServeMux()
	mux.Handle("GET /silent", e.Wrap(func(http.ResponseWriter, *http.Request) error { return nil }))
	if res := serveOne(t, e.Handler(mux), "GET", "/silent"); res.StatusCode != 200 || bodyOf(t, res) != "" {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestAnotherFrontEndHasItsOwnErrors(t *testing.T) {
	handler := testFrontEnd(Options{ErrorBody: func(r *http.Request, e *countersign.Error) []byte {
		return []byte(r.URL.Path + " " + e.RequestID + " " + e.Code + ": " + e.Message)
	}})
	res := serveOne(t, handler, "GET", "/nope")
	id := res.Header.Get("X-Request-Id")
	if got := bodyOf(t, res); id == "" || got != "/nope "+id+" not_found: Not found" {
		t.Errorf("got %q", got)
	}
}

func TestHEADHasTheHeadersOfGETAndNoBody(t *testing.T) {
	srv := httptest.NewServer(testFrontEnd(Options{}))
	defer srv.Close()
	get := must.Get(srv.Client().Get(srv.URL + "/api/items/all"))(t)
	whole := bodyOf(t, get)
	_ = get.Body.Close()
	head := must.Get(srv.Client().Head(srv.URL + "/api/items/all"))(t)
	defer head.Body.Close()
	if bodyOf(t, head) != "" || head.ContentLength != int64(len(whole)) || get.ContentLength != head.ContentLength {
		t.Errorf("HEAD says %d bytes, GET has %d", head.ContentLength, len(whole))
	}
	expect.Equalf(t, head.Header.Get("Content-Type"), get.Header.Get("Content-Type"), "Content-Type")
}

func TestAClientThatLeftIsNoErrorOfOurs(t *testing.T) {
	left := func(o Options) {
		ctx, leave := context.WithCancel(context.Background())
		h := NewEdge(o).Wrap(func(_ http.ResponseWriter, r *http.Request) error {
			leave()
			return r.Context().Err()
		})
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx))
	}
	out, log := logged()
	metrics := NewMetrics("test")
	accessed := lines(t, LogText, func(o Options) {
		o.Log, o.Metrics = log, metrics
		left(o)
	})
	expect.Equalf(t, out.Len(), 0, "logged: %s", out)
	if !strings.Contains(accessed, "level=INFO") || !strings.Contains(accessed, " status=499 ") || strings.Contains(accessed, "code=") {
		t.Errorf("the access log says %q", accessed)
	}
	expect.Equalf(t, lines(t, LogOff, left), "", "an access log that is off says")
	if got := string(scrape(t, metrics)); !strings.Contains(got, `status="499"} 1`) || strings.Contains(got, `status="500"`) {
		t.Errorf("the metrics say %s", got)
	}
	h := NewEdge(Options{Log: log}).Wrap(func(http.ResponseWriter, *http.Request) error { return context.Canceled })
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if out.Len() == 0 {
		t.Error("a cancelled context of ours was taken for the client's")
	}
}
