package web

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// exact knows which handlers of a mux stand for one method and one path, such as "POST /api/purchases/validation",
// once each was asked for: to find one among all patterns costs as much as to read the request. There are never more
// of them than patterns.
type exact struct {
	mux   *http.ServeMux
	mu    sync.Mutex // held to learn
	known atomic.Pointer[map[methodPath]exactHandler]
}

type methodPath struct{ method, path string }

type exactHandler struct {
	pattern string
	http.Handler
}

func newExact(mux *http.ServeMux) *exact {
	e := &exact{mux: mux}
	e.known.Store(&map[methodPath]exactHandler{})
	return e
}

// ServeHTTP answers as the mux does.
func (e *exact) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, ok := (*e.known.Load())[methodPath{r.Method, r.URL.Path}]
	if ok && r.URL.RawPath == "" {
		r.Pattern = h.pattern
		h.ServeHTTP(w, r)
		return
	}
	e.mux.ServeHTTP(w, r)
	if method, path, _ := strings.Cut(r.Pattern, " "); path == r.URL.Path && method == r.Method && r.URL.RawPath == "" {
		e.learn(r)
	}
}

func (e *exact) learn(r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	known := maps.Clone(*e.known.Load())
	h, pattern := e.mux.Handler(r)
	known[methodPath{r.Method, strings.Clone(r.URL.Path)}] = exactHandler{pattern, h}
	e.known.Store(&known)
}
