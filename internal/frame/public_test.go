package frame_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/webtest"
)

// A set of public pages has nobody who could sign in, and no database.
func TestPublicPagesNeedNobody(t *testing.T) {
	f := must.Get(frame.New(frame.Options{Brand: "A shop", Home: "/start"}))(t)
	mux := http.NewServeMux()
	f.Routes(mux)
	mux.Handle("GET /start", f.Public(func(w http.ResponseWriter, r *frame.Request) error {
		return f.Show(w, r, frame.Page{Title: "Start", Bare: true})
	}))
	mux.Handle("POST /start", f.Public(func(w http.ResponseWriter, r *frame.Request) error {
		return f.Redirect(w, r, "/start", "")
	}))
	mux.Handle("GET /gone", f.Public(f.NotFound))
	mux.Handle("GET /damaged", f.Public(func(http.ResponseWriter, *frame.Request) error {
		return fault.Unavailable(countersign.CodeUnavailable, "Writes are off: the database file /srv/store.db is damaged")
	}))
	s := &site{frame: f, server: httptest.NewServer(web.NewEdge(web.Options{}).Handler(mux))}
	t.Cleanup(s.server.Close)
	b := s.browser(t)

	start := b.Get("/start", "Cookie", "countersign_session=planted").Status(http.StatusOK).Says("A shop", "Start")
	expect.Equalf(t, start.Header.Get("Set-Cookie"), "", "a cookie is set")
	sheets := start.Having("rel", "stylesheet")
	if len(sheets) != 1 || !strings.HasPrefix(webtest.Attr(sheets[0], "href"), "/assets/") {
		t.Fatalf("the style sheets are %v", sheets)
	}
	b.Get(webtest.Attr(sheets[0], "href")).Status(http.StatusOK)
	b.Post("/start").LeadsTo("/start")
	b.Get("/gone").Status(http.StatusNotFound).Says("Go to the start page")
	b.Get("/damaged").Status(http.StatusServiceUnavailable).Says("The server can't answer right now.").SilentAbout("/srv", "damaged")
	for _, path := range []string{"/login", "/setup", "/link", "/2fa", "/logout"} {
		if _, pattern := mux.Handler(httptest.NewRequest(http.MethodGet, path, nil)); pattern != "" {
			t.Errorf("%s is there: %s", path, pattern)
		}
	}
}
