package pages_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/webtest"
)

const apisPath = "/admincp/apis"

var secretPattern = regexp.MustCompile(`ca[ks]_[0-9A-Za-z]{49}`)

// pairOn reads the pair that a page shows.
func pairOn(t *testing.T, p *webtest.Page) credential.Values {
	t.Helper()
	pair := credential.Values{Key: p.Value("api-key"), Secret: p.Value("api-secret")}
	if !secretPattern.MatchString(pair.Key) || !secretPattern.MatchString(pair.Secret) {
		t.Fatal("the page shows no pair")
	}
	return pair
}

func TestCredentialsAreShownOnceAndAgainForThePassword(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.Get(apisPath).Says("First pair", "Active")
		p := b.Fill(apisPath+"/new", apisPath, "label", "Shop server", "password", password).Status(http.StatusOK).Says("Copy both now", "Shop server")
		pair := pairOn(t, p)
		if _, err := s.Credentials.Basic(t.Context(), operator.Addr, pair.Key, pair.Secret); err != nil {
			t.Errorf("the pair does not work: %v", err)
		}
		// Loading the page again makes no second pair.
		b.Post(apisPath, "label", "Shop server", "password", password).Status(http.StatusConflict).Wrong("label", "already").SilentAbout(pair.Key, pair.Secret)
		for _, path := range []string{apisPath, apisPath + "/2", apisPath + "/2/reveal", apisPath + "/2/rotate", "/api-addons/admin/audit", "/api-addons/admin"} {
			expect.Equalf(t, secretPattern.FindString(b.Get(path).Body), "", "%s shows", path)
		}
		b.Post(apisPath+"/2/reveal").Status(http.StatusUnprocessableEntity).Wrong("password", "Type your password.")
		b.Post(apisPath+"/2/reveal", "password", "wrong wrong wrong").Status(http.StatusUnprocessableEntity).Wrong("password", "").SilentAbout(pair.Key, pair.Secret, "wrong wrong wrong")
		expect.Equalf(t, pairOn(t, b.Post(apisPath+"/2/reveal", "password", password).Status(http.StatusOK)), pair, "another pair was revealed")
		b.Get("/api-addons/admin/audit").Says("Revealed API credentials")
	})
}

func TestCredentialsNeedALabel(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	for label, says := range map[string]string{"": "Type a label", "  ": "Type a label", "a\x01b": "control characters", strings.Repeat("x", 101): "longer than 100", "First pair": "already"} {
		b.Post(apisPath, "label", label, "password", password).Wrong("label", says)
	}
	if all, err := s.Credentials.List(t.Context(), operator); err != nil || len(all) != 1 {
		t.Errorf("%d pairs, %v", len(all), err)
	}
}

func TestValuesOfCredentialsNeedThePassword(t *testing.T) {
	s := one(t)
	s.signedIn(t).Get(apisPath).Says("The app needs neither for its settings", "it sends the API key with a user token, and never the API secret")
	key := s.signedIn(t).Get(apisPath + "/1/rotate").Form(apisPath + "/1/rotate").Get("ends")
	before := s.audits(t) + 1 // the sign-in
	b := s.signedIn(t)
	for _, tt := range []struct{ rule, path, password, says string }{
		{"nothing is made without it", apisPath, "", "Type your password."},
		{"nothing is made with a wrong one", apisPath, "wrong wrong wrong", "Wrong password."},
		{"nothing is replaced without it", apisPath + "/1/rotate", "", "Type your password."},
		{"nothing is replaced with a wrong one", apisPath + "/1/rotate", "wrong wrong wrong", "Wrong password."},
		{"nothing is shown without it", apisPath + "/1/reveal", "", "Type your password."},
		{"nothing is shown with a wrong one", apisPath + "/1/reveal", "wrong wrong wrong", "Wrong password."},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := b.Post(tt.path, "label", "Shop server", "ends", key, "password", tt.password).Status(http.StatusUnprocessableEntity)
			p.Wrong("password", tt.says).SilentAbout("wrong wrong wrong")
			if form := p.Form(tt.path); !form.Has("password") || form.Has("label") && form.Get("label") != "Shop server" {
				t.Errorf("the form again: %v", form)
			}
			expect.Equalf(t, secretPattern.FindString(p.Body), "", "the page shows")
			s.wantAudits(t, before)
		})
	}
	for range 7 { // three were wrong already
		b.Post(apisPath, "label", "Shop server", "password", "wrong wrong wrong").Status(http.StatusUnprocessableEntity)
	}
	for _, path := range []string{apisPath, apisPath + "/1/rotate", apisPath + "/1/reveal"} {
		b.Post(path, "label", "Shop server", "ends", key, "password", password).Status(http.StatusTooManyRequests)
	}
	s.wantAudits(t, before)
}

func TestCredentialsHaveTwoSwitches(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		path := apisPath + "/1"
		b.Fill(path, path, "secret", "-").LeadsTo(path)
		b.Get(path).Says("“First pair” is inactive", "The API secret of “First pair” is inactive", "Both must be active before you go live.")
		b.Get("/api-addons/admin").Says("The API secret of “First pair” is inactive", "Activate API credentials")
		b.Fill(path, path, "key", "-").LeadsTo(path)
		b.Get(apisPath).Says("No active API credentials")
		b.Fill(path, path, "secret", "1").LeadsTo(path)
		b.Get("/api-addons/admin/packages").Says("The API key of “First pair” is inactive")
		b.Fill(path, path, "key", "1").LeadsTo(path)
		if text := b.Get(path).Says("“First pair” is active").Text(); strings.Contains(text, "before you go live. API access") {
			t.Error("the warning is still there")
		}
		c, err := s.Credentials.Find(t.Context(), operator, 1)
		if err != nil || !c.Active() {
			t.Errorf("%+v, %v", c, err)
		}
		// A pair that is off as a whole, beside one that works, is left alone.
		b.Post(apisPath, "label", "Old server", "password", password).Status(http.StatusOK)
		b.Post(apisPath + "/2").LeadsTo(apisPath + "/2")
		if text := b.Get("/api-addons/admin").Text(); strings.Contains(text, "Both must be active") {
			t.Error("a pair that was switched off as a whole is warned of")
		}
	})
}

func TestCredentialsAreReplacedOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		first := pairOn(t, b.Post(apisPath, "label", "Shop server", "password", password))
		path := apisPath + "/2/rotate"
		form := b.Get(path).Says("stop working at once", "They have never been used.").Form(path)
		form.Set("password", password)
		second := pairOn(t, b.PostForm(path, form).Status(http.StatusOK).Says("The old values have expired."))
		if second == first {
			t.Fatal("nothing was replaced")
		}
		b.PostForm(path, form).LeadsTo(apisPath + "/2") // loaded again
		b.Get(apisPath + "/2").Says("these credentials were rotated already")
		b.Post(path).LeadsTo(apisPath + "/2")
		if _, err := s.Credentials.Basic(t.Context(), operator.Addr, second.Key, second.Secret); err != nil {
			t.Errorf("the new pair does not work: %v", err)
		}
		if _, err := s.Credentials.Basic(t.Context(), operator.Addr, first.Key, first.Secret); err == nil {
			t.Error("the old pair still works")
		}
	})
}

func TestCredentialsAreRenamedAndDeleted(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		path := apisPath + "/1"
		rename, remove := path+"/rename", path+"/delete"
		for label, says := range map[string]string{"": "Type a label", "a\x01b": "control characters"} {
			b.Post(rename, "label", label).Status(http.StatusUnprocessableEntity).Wrong("label", says)
		}
		b.Post(apisPath, "label", "Taken", "password", password).Status(http.StatusOK)
		b.Post(rename, "label", "Taken").Status(http.StatusConflict).Wrong("label", "already")
		b.Fill(rename, rename, "label", "Shop <server>").LeadsTo(path)
		b.Get(path).Says("The label is now “Shop <server>”.", "To delete these credentials, first turn off both.")
		expect.Equalf(t, len(b.Get(remove).Says("To delete these credentials, first turn off both.").Having("action", remove)), 0, "active credentials can be deleted")
		b.Post(remove).Status(http.StatusConflict).Says("Nothing was deleted.", "key active, secret active")
		b.Fill(path, path, "key", "-", "secret", "-").LeadsTo(path)
		expect.Equalf(t, len(b.Get(path).SilentAbout("To delete these").Having("href", remove)), 1, "nothing leads to the delete")
		b.Get(remove).Says("Delete “Shop <server>”", "You can't activate or reveal them again", "They have never been used.")
		b.Fill(remove, remove).LeadsTo(apisPath)
		b.Get(apisPath).Says("“Shop <server>” was deleted.", "Taken")
		b.Get(path).Status(http.StatusNotFound)
		b.Get("/api-addons/admin/audit").Says("Renamed API credentials", "Deleted API credentials")
	})
}

func TestTheWarningAboutCredentialsIsDismissed(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		path, dismiss := apisPath+"/1", apisPath+"/dismiss"
		const text = "Both must be active before you go live. API access"
		b.Fill(path, path, "secret", "-").LeadsTo(path)
		p := b.Get("/api-addons/admin").Says(text)
		b.PostForm(dismiss, p.Form(dismiss)).LeadsTo(apisPath)
		b.Get(apisPath).Says("The warning is dismissed.").SilentAbout(text)
		s.signedIn(t).Get("/api-addons/admin").SilentAbout(text)
		b.Fill(path, path, "key", "-").LeadsTo(path)
		b.Get(path).Says(text)
		b.Fill(path, path, "key", "1", "secret", "1").LeadsTo(path)
		b.Get(dismiss).Says("Dismiss the warning", "It comes back when API credentials change their state.")
		b.Post(dismiss).Status(http.StatusConflict).Says("so nothing was dismissed") // from a page of before
		b.Get("/api-addons/admin/audit").Says("Dismissed the warning about API credentials")
	})
}
