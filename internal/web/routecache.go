package web

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// routeCache remembers the handlers of a mux for one method and one path, such as "POST /api/purchases/validation",
// once each was requested: finding one among all patterns costs as much as reading the request. There are never more
// entries than patterns.
type routeCache struct {
	mux   *http.ServeMux
	mu    sync.Mutex // held to learn
	known atomic.Pointer[map[methodPath]cachedRoute]
}

type methodPath struct{ method, path string }

type cachedRoute struct {
	pattern string
	http.Handler
}

func newRouteCache(mux *http.ServeMux) *routeCache {
	c := &routeCache{mux: mux}
	c.known.Store(&map[methodPath]cachedRoute{})
	return c
}

// ServeHTTP answers as the mux does.
func (c *routeCache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, ok := (*c.known.Load())[methodPath{r.Method, r.URL.Path}]
	if ok && r.URL.RawPath == "" {
		r.Pattern = h.pattern
		h.ServeHTTP(w, r)
		return
	}
	c.mux.ServeHTTP(w, r)
	if method, path, _ := strings.Cut(r.Pattern, " "); path == r.URL.Path && method == r.Method && r.URL.RawPath == "" {
		c.learn(r)
	}
}

func (c *routeCache) learn(r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := maps.Clone(*c.known.Load())
	h, pattern := c.mux.Handler(r)
	known[methodPath{r.Method, strings.Clone(r.URL.Path)}] = cachedRoute{pattern, h}
	c.known.Store(&known)
}
