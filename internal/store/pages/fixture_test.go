package pages_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/pages"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/webtest"
)

// today is when the tests play.
var today = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func now() time.Time { return today }

// shop is a store with both of its front ends.
type shop struct {
	*store.Store
	http.Handler
	// base is the path prefix.
	base string
}

// shopStore is a store with the shop of the API's scripts.
var shopStore = storetest.NewTemplate("../api/testdata/shop.jsonl", store.Options{Options: instance.Options{Now: now}})

// openShop opens a copy of shopStore, whose addresses may fail failLimit times a minute.
func openShop(t *testing.T, db dbtest.DB, failLimit int, base string) shop {
	t.Helper()
	s := storetest.Open(t, db, store.Options{Options: instance.Options{Now: now}})
	return shop{s, frontEnds(t, s, failLimit, base), base}
}

func frontEnds(t *testing.T, s *store.Store, failLimit int, base string) http.Handler {
	t.Helper()
	o := pages.FrameOptions(s)
	o.Now, o.BasePath = now, base
	f := must.Get(frame.New(o))(t)
	limits := web.NewRateLimits(limit.NewGuesses(limit.Options{Failures: failLimit, Now: now}))
	shown := func(console http.Handler) http.Handler {
		return pages.New(pages.Options{Store: s, Frame: f, Limits: limits, API: console})
	}
	return frame.StripBase(base, api.New(s, api.Options{Limits: limits, Pages: shown, Now: now}))
}

// engines runs fn with a shop on both engines.
func engines(t *testing.T, fn func(t *testing.T, s shop)) {
	t.Helper()
	t.Parallel()
	shopStore.AnEngine(t, func(t *testing.T, db dbtest.DB) { fn(t, openShop(t, db, 0, "")) })
}

func (s shop) send(t *testing.T, r *http.Request) *webtest.Page {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	p := &webtest.Page{T: t, Response: w.Result(), Body: w.Body.String(), Name: r.Method + " " + r.URL.Path, Base: s.base}
	if strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
		p.Check()
		expect.Equalf(t, p.Header.Get("Set-Cookie"), "", "%s: sets the cookie", p.Name)
	}
	return p
}

func (s shop) get(t *testing.T, path string) *webtest.Page {
	t.Helper()
	return s.send(t, httptest.NewRequest(http.MethodGet, path, nil))
}

// post sends a form as a browser does; names and values take turns.
func (s shop) post(t *testing.T, path string, namesAndValues ...string) *webtest.Page {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(namesAndValues); i += 2 {
		form.Set(namesAndValues[i], namesAndValues[i+1])
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return s.send(t, r)
}
