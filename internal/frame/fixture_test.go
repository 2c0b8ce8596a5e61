package frame_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/webtest"
)

const (
	email    = "ada@site.example"
	password = "four quiet green words"
	changed  = "five more quiet green words"
)

var operator = people.Operator("tester")

// site is a frame with a few pages, served over HTTP, on a real database.
type site struct {
	*people.People
	clock    *dbtest.Clock
	frame    *frame.Frame
	server   *httptest.Server
	database *sqldb.DB
	log      *webtest.Log
	base     string
}

// engines runs fn with a new site on both engines.
func engines(t *testing.T, fn func(t *testing.T, s *site)) {
	dbtest.AnEngine(t, func(t *testing.T, place dbtest.DB) { fn(t, newSite(t, place, nil)) })
}

// newSite serves a frame whose options with may change.
func newSite(t *testing.T, place dbtest.DB, with func(*frame.Options)) *site {
	t.Helper()
	box, err := keyfile.Create(place.Dir)
	must.Do(t, err)
	s := &site{clock: dbtest.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)), log: &webtest.Log{}}
	s.database, err = sqldb.Open(t.Context(), sqldb.Options{URL: place.URL, Path: filepath.Join(place.Dir, "people.db"), Schemas: []sqldb.Schema{peopledb.Schema}})
	must.Do(t, err)
	t.Cleanup(func() { s.database.Close() })
	must.Do(t, s.database.Migrate(t.Context()))
	log := slog.New(slog.NewTextHandler(s.log, nil))
	s.People = people.New(people.Options{DB: &peopledb.DB{Queries: s.database.Queries()}, Box: func() *keyfile.Box { return box }, Now: s.clock.Now, Log: log, HashCost: people.TestCost})
	o := frame.Options{
		People: s.People, Log: log, Now: s.clock.Now, Brand: "Countersign addon", Command: "countersign addon",
		Home: "/admin", SignIn: "/admincp/login", Account: "/admincp/me",
		Menu: []frame.MenuItem{{Label: "Dashboard", Path: "/admin", Icon: "layout-dashboard"}, {Label: "History", Path: "/admin/history", Icon: "history", Group: "App"}},
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.log)
		}
	})
	if with != nil {
		with(&o)
	}
	if s.frame, err = frame.New(o); err != nil {
		t.Fatal(err)
	}
	s.base = o.BasePath
	edge := web.NewEdge(web.Options{Log: log})
	s.server = httptest.NewServer(frame.StripBase(o.BasePath, edge.Handler(s.mux())))
	t.Cleanup(s.server.Close)
	return s
}

// mux has pages that show and change something, and pages that fail.
func (s *site) mux() *http.ServeMux {
	mux := http.NewServeMux()
	s.frame.Routes(mux)
	mux.Handle("GET /admin", s.frame.Admin(func(w http.ResponseWriter, r *frame.Request) error {
		return s.frame.Show(w, r, frame.Page{Title: "Dashboard", Body: frame.Words("signed in as " + r.Actor.ID)})
	}))
	mux.Handle("POST /admin", s.frame.Admin(func(w http.ResponseWriter, r *frame.Request) error {
		in, err := r.PostValues()
		if err != nil {
			return err
		}
		return s.frame.Redirect(w, r, "/admin", "Kept "+in.Get("name")+".")
	}))
	form := s.frame.Admin(s.exampleForm)
	mux.Handle("GET /admin/form", form)
	mux.Handle("POST /admin/form", form)
	mux.Handle("POST /admin/sent", form)
	mux.Handle("GET /admin/panic", s.frame.Admin(func(http.ResponseWriter, *frame.Request) error { panic("the cause") }))
	mux.Handle("GET /admin/broken", s.frame.Admin(func(http.ResponseWriter, *frame.Request) error {
		return fmt.Errorf("opening: %w", io.ErrUnexpectedEOF)
	}))
	mux.Handle("GET /admin/", s.frame.Admin(s.frame.NotFound))
	return mux
}

// administrator creates the user that the tests sign in as.
func (s *site) administrator(t *testing.T) people.User {
	t.Helper()
	return must.Get(s.CreateAdministrator(t.Context(), operator, email, password))(t)
}

func (s *site) browser(t *testing.T) *webtest.Browser {
	return webtest.NewBrowser(t, s.server.URL, s.base)
}

// signedIn is a browser in which the administrator is signed in.
func (s *site) signedIn(t *testing.T) *webtest.Browser {
	t.Helper()
	b := s.browser(t)
	b.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admin")
	return b
}
