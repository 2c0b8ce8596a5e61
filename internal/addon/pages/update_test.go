package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

const updatePath = "/api-addons/update.php"

// setupToken creates a set-up link.
func (s *site) setupToken(t *testing.T) string {
	t.Helper()
	token, _, err := s.Setup.NewLink(t.Context(), operator)
	must.Do(t, err)
	return token
}

func (s *site) webToken(t *testing.T) string {
	t.Helper()
	token, _, err := s.Setup.NewWebToken(t.Context(), operator)
	must.Do(t, err)
	return token
}

func TestUpdatePageTellsStrangersNothing(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSite(t, at, nil)
		s.webToken(t)
		s.setupToken(t)
		b := s.browser(t)
		for _, p := range []*webtest.Page{
			b.Get(updatePath), b.Get(updatePath, "X-Update-Token", "cau_wrong"), b.Get(updatePath + "?token=x"),
			b.Post(updatePath), b.Post(updatePath, "do", "run"), b.Post(updatePath, "do", "plan", "token", "wrong"), b.Post(updatePath, "token", "cau_wrong"),
		} {
			p.Status(http.StatusForbidden).Says("countersign addon update", "countersign addon update --web-token").SilentAbout("1.2.3", at.Dir, "tables", "migration")
		}
		b.Post(updatePath, "token", "wrong").Wrong("token", "countersign addon setup-link")
		b.Post(updatePath, "token", "cau_wrong").Wrong("token", "new token")
		if s.Installed() {
			t.Error("something was installed")
		}
	})
}

func TestFirstUpdateByTheSetUpLink(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSite(t, at, nil)
		token := s.setupToken(t)
		b := s.browser(t)
		link := "https://site.example/admincp/setup#" + token
		plan := b.Post(updatePath, "do", "plan", "token", link).Status(http.StatusOK).Says("Create the tables", "Create the first API key and API secret", "Requirements", "Nothing is deleted")
		b.Get(updatePath).Status(http.StatusForbidden)
		if s.Installed() {
			t.Fatal("the plan changed something")
		}
		form := plan.Form(updatePath)
		form.Set("do", "run")
		done := b.PostForm(updatePath, form).Status(http.StatusOK).Says("The update is done", "1.2.3")
		expect.Equalf(t, len(done.Having("href", "/admincp/setup#"+token)), 1, "nothing leads to the first administrator")
		b.PostForm(updatePath, form).Status(http.StatusOK).Says("Nothing to do")
		b.Post("/admincp/setup", "token", token, "email", email, "password", password).LeadsTo("/api-addons/admin")
		b.Get("/api-addons/admin").Says("API credentials are active")
		// The link has done its work.
		s.browser(t).Post(updatePath, "do", "plan", "token", token).Status(http.StatusForbidden)
	})
}

func TestFirstUpdateByAnUpdateToken(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSite(t, at, nil)
		token := s.webToken(t)
		b := s.browser(t)
		b.Get(updatePath, "X-Update-Token", token).Status(http.StatusOK).Says("Create the tables")
		b.Post(updatePath, "do", "plan", "token", token).Status(http.StatusOK)
		b.Send("POST", updatePath, nil, "X-Update-Token", token).Status(http.StatusOK).Says("The update is done", "Go to sign-in")
		b.Send("POST", updatePath, nil, "X-Update-Token", token).Status(http.StatusForbidden)
		b.Get(updatePath, "X-Update-Token", token).Status(http.StatusForbidden)
		if !s.Installed() {
			t.Error("nothing was installed")
		}
	})
}

func TestUpdateBySomebodyWhoIsSignedIn(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		before := s.audits(t)
		b.Get(updatePath).Status(http.StatusOK).Says("Nothing to do", "1.2.3")
		b.Post(updatePath, "do", "run").Status(http.StatusOK).Says("Nothing to do")
		s.wantAudits(t, before)
	})
}

func TestUpdateThatFailsSaysWhichStepAndLeavesTheOldState(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	token := s.setupToken(t)
	// An update that was killed before it had all tables leaves some; a table that can't
	// be written stops the next one after the key file.
	must.Do(t, addontest.Database(t, s.at).Queries.DB().Migrate(t.Context()))
	addontest.Execute(t, s.at, `CREATE TRIGGER broken BEFORE INSERT ON definitions BEGIN SELECT RAISE(ABORT, 'broken'); END`)
	b := s.browser(t)
	p := b.Post(updatePath, "do", "run", "token", token)
	if p.StatusCode < 400 {
		t.Fatalf("status %d: %s", p.StatusCode, p.Text())
	}
	p.Says("The update stopped", "Run it again", "stopped:", "done: Create the key file", "the server's log has the cause")
	if logged := s.log.String(); !strings.Contains(logged, "broken") || strings.Contains(p.Text(), "broken") {
		t.Errorf("the cause is not in the log, or on the page: %s", logged)
	}
	if s.Installed() {
		t.Error("it counts as installed")
	}
	addontest.Execute(t, s.at, `DROP TRIGGER broken`)
	form := p.Form(updatePath)
	form.Set("do", "run")
	b.PostForm(updatePath, form).Status(http.StatusOK).Says("The update is done")
}

func TestUpdateWhileAnotherRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	token := s.setupToken(t)
	inside := make(chan *webtest.Page, 1)
	must.Get(s.Setup.Update(t.Context(), operator, func(setup.Step) {
		if len(inside) == 0 {
			inside <- s.browser(t).Post(updatePath, "do", "run", "token", token)
		}
	}))(t)
	(<-inside).Status(http.StatusConflict).Says("The update stopped", "Another update of this addon is running")
}
