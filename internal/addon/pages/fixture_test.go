package pages_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/pages"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/webtest"
)

const (
	email    = "ada@site.example"
	password = "four quiet green words"
)

var operator, noon = addontest.Operator, addontest.Noon

// site is an addon with its pages, served over HTTP, on a real database.
type site struct {
	*addon.Addon
	clock  *dbtest.Clock
	frame  *frame.Frame
	server *httptest.Server
	log    *webtest.Log
	at     dbtest.DB
	base   string
}

// newSite serves the pages of an addon before its first update. with may change
// the frame's options.
func newSite(t *testing.T, at dbtest.DB, with func(*frame.Options)) *site {
	t.Helper()
	return newSiteAt(t, at, "", with)
}

// newSiteAt is newSite with another address in place of Google Play's.
func newSiteAt(t *testing.T, at dbtest.DB, playURL string, with func(*frame.Options)) *site {
	t.Helper()
	s := &site{clock: dbtest.NewClock(noon), log: &webtest.Log{}, at: at}
	log := slog.New(slog.NewTextHandler(s.log, nil))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.log)
		}
	})
	s.Addon = addontest.Open(t, at, addon.Options{Options: instance.Options{Log: log, Now: s.clock.Now}, AllowPrivate: addontest.Loopback, PlayURL: playURL})
	_ = s.Prepare(t.Context()) // says in an empty place that there is no addon
	o := pages.FrameOptions(s.Addon)
	o.Log, o.Now = log, s.clock.Now
	if with != nil {
		with(&o)
	}
	var err error
	if s.frame, err = frame.New(o); err != nil {
		t.Fatal(err)
	}
	s.base = o.BasePath
	edge := web.NewEdge(web.Options{Log: log, Now: s.clock.Now})
	s.server = httptest.NewServer(frame.StripBase(o.BasePath, edge.Handler(pages.New(pages.Options{Addon: s.Addon, Frame: s.frame}))))
	t.Cleanup(s.server.Close)
	return s
}

// updatedSite is a site after its first update, with an administrator.
var updatedSite = addontest.NewTemplate(noon, func(ctx context.Context, a *addon.Addon) error {
	_, err := a.Instance.People.CreateAdministrator(ctx, operator, email, password)
	return err
})

// opened opens a copy of updatedSite.
func opened(t *testing.T, at dbtest.DB) *site {
	t.Helper()
	s := newSite(t, at, nil)
	if !s.Installed() {
		t.Fatal("the copied addon is not installed")
	}
	return s
}

func (s *site) install(t *testing.T) {
	t.Helper()
	must.Get(s.Setup.Update(t.Context(), operator, nil))(t)
	must.Get(s.Instance.People.CreateAdministrator(t.Context(), operator, email, password))(t)
}

// engines runs fn with an updated site on both engines.
func engines(t *testing.T, fn func(t *testing.T, s *site)) {
	t.Helper()
	t.Parallel()
	updatedSite.AnEngine(t, func(t *testing.T, at dbtest.DB) { fn(t, opened(t, at)) })
}

// one runs fn with an updated site on SQLite, for what does not depend on the
// database.
func one(t *testing.T) *site {
	t.Helper()
	t.Parallel()
	return opened(t, updatedSite.New(t, dbtest.SQLite))
}

func (s *site) browser(t *testing.T) *webtest.Browser {
	return webtest.NewBrowser(t, s.server.URL, s.base)
}

// signedIn is a browser in which the administrator is signed in.
func (s *site) signedIn(t *testing.T) *webtest.Browser {
	t.Helper()
	b := s.browser(t)
	b.Post("/admincp/login", "email", email, "password", password).LeadsTo("/api-addons/admin")
	return b
}

func (s *site) mustSet(t *testing.T, namesAndValues ...string) {
	t.Helper()
	changes := map[string]string{}
	for i := 0; i < len(namesAndValues); i += 2 {
		changes[namesAndValues[i]] = namesAndValues[i+1]
	}
	must.Get(s.Settings.Set(t.Context(), operator, settings.Edit{}, changes))(t)
}

func (s *site) mustPublish(t *testing.T, note string) {
	t.Helper()
	must.Get(s.Settings.Publish(t.Context(), operator, 0, note))(t)
}

func (s *site) mustPackage(t *testing.T, id int64, name string, paid bool) {
	t.Helper()
	must.Do(t, s.IAP.AddPackage(t.Context(), operator, iap.Package{ID: id, Name: name, Rank: 10 * id, Paid: paid}))
}

// value is a setting of the draft.
func (s *site) value(t *testing.T, key string) string {
	t.Helper()
	all := must.Get(s.Settings.Draft(t.Context(), operator))(t)
	found, there := all.Get(key)
	if !there {
		return fmt.Sprintf("(no setting %s)", key)
	}
	return found.Value
}

func (s *site) wantValue(t *testing.T, key, want string) {
	t.Helper()
	expect.Equalf(t, s.value(t, key), want, "%s", key)
}
