package pages_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
)

const updatePath = "/api-addons/update.php"

// setupToken makes a set-up link.
func (s *site) setupToken(t *testing.T) string {
	t.Helper()
	token, _, err := s.NewSetupLink(t.Context(), operator)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (s *site) webToken(t *testing.T) string {
	t.Helper()
	token, _, err := s.NewWebToken(t.Context(), operator)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestUpdatePageTellsStrangersNothing(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		s := newSite(t, at, nil)
		s.webToken(t)
		s.setupToken(t)
		b := s.browser(t)
		for _, p := range []*page{
			b.get(updatePath), b.get(updatePath, "X-Update-Token", "cau_wrong"), b.get(updatePath + "?token=x"),
			b.post(updatePath), b.post(updatePath, "do", "run"), b.post(updatePath, "do", "plan", "token", "wrong"), b.post(updatePath, "token", "cau_wrong"),
		} {
			p.status(http.StatusForbidden).says("countersign addon update", "countersign addon update --web-token").silentAbout("1.2.3", at.Dir, "tables", "migration")
		}
		b.post(updatePath, "token", "wrong").wrong("token", "countersign addon setup-link")
		b.post(updatePath, "token", "cau_wrong").wrong("token", "fresh token")
		if s.Installed() {
			t.Error("something was installed")
		}
	})
}

func TestFirstUpdateByTheSetUpLink(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		s := newSite(t, at, nil)
		token := s.setupToken(t)
		b := s.browser(t)
		link := "https://site.example/admincp/setup#" + token
		plan := b.post(updatePath, "do", "plan", "token", link).status(http.StatusOK).says("Make the tables", "Create the first API key and API secret", "Requirements", "Nothing is deleted")
		b.get(updatePath).status(http.StatusForbidden)
		if s.Installed() {
			t.Fatal("the plan changed something")
		}
		form := plan.form(updatePath)
		form.Set("do", "run")
		done := b.postForm(updatePath, form).status(http.StatusOK).says("The update is done", "1.2.3")
		if len(done.having("href", "/admincp/setup#"+token)) != 1 {
			t.Error("nothing leads to the first administrator")
		}
		b.postForm(updatePath, form).status(http.StatusOK).says("Nothing to do")
		b.post("/admincp/setup", "token", token, "email", email, "password", password).leadsTo("/api-addons/admin")
		b.get("/api-addons/admin").says("API key and secret are active")
		// The link has done its work.
		s.browser(t).post(updatePath, "do", "plan", "token", token).status(http.StatusForbidden)
	})
}

func TestFirstUpdateByAnUpdateToken(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		s := newSite(t, at, nil)
		token := s.webToken(t)
		b := s.browser(t)
		b.get(updatePath, "X-Update-Token", token).status(http.StatusOK).says("Make the tables")
		b.post(updatePath, "do", "plan", "token", token).status(http.StatusOK)
		b.send("POST", updatePath, nil, "X-Update-Token", token).status(http.StatusOK).says("The update is done", "Go to sign-in")
		b.send("POST", updatePath, nil, "X-Update-Token", token).status(http.StatusForbidden)
		b.get(updatePath, "X-Update-Token", token).status(http.StatusForbidden)
		if !s.Installed() {
			t.Error("nothing was installed")
		}
	})
}

func TestUpdateBySomebodyWhoIsSignedIn(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		before := s.audits(t)
		b.get(updatePath).status(http.StatusOK).says("Nothing to do", "1.2.3")
		b.post(updatePath, "do", "run").status(http.StatusOK).says("Nothing to do")
		s.wantAudits(t, before)
	})
}

func TestUpdateThatFailsSaysWhichStepAndLeavesTheOldState(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	token := s.setupToken(t)
	// An update that was killed before it had all tables leaves some; a key file that
	// can't be read stops the next one at that step.
	migrated, err := sqldb.Open(t.Context(), sqldb.Options{Path: filepath.Join(s.at.Dir, addon.DatabaseName), Schemas: addondb.Schemas[:1]})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(migrated.Migrate(t.Context()), migrated.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.at.Dir, "countersign.key"), []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	p := b.post(updatePath, "do", "run", "token", token)
	if p.StatusCode < 400 {
		t.Fatalf("status %d: %s", p.StatusCode, p.text())
	}
	p.says("The update stopped", "Run it again", "stopped:", "done: Make the tables")
	if s.Installed() {
		t.Error("it counts as installed")
	}
	if err := os.Remove(filepath.Join(s.at.Dir, "countersign.key")); err != nil {
		t.Fatal(err)
	}
	form := p.form(updatePath)
	form.Set("do", "run")
	b.postForm(updatePath, form).status(http.StatusOK).says("The update is done")
}

func TestUpdateWhileAnotherRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	token := s.setupToken(t)
	inside := make(chan *page, 1)
	_, err := s.Update(t.Context(), operator, func(addon.Step) {
		if len(inside) == 0 {
			inside <- s.browser(t).post(updatePath, "do", "run", "token", token)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	(<-inside).status(http.StatusConflict).says("The update stopped", "Another update of this addon is running")
}
