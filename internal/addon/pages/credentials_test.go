package pages_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon"
)

const apisPath = "/admincp/apis"

var secretPattern = regexp.MustCompile(`ca[ks]_[0-9A-Za-z]{49}`)

// pairOn reads the pair that a page shows.
func pairOn(t *testing.T, p *page) addon.Pair {
	t.Helper()
	pair := addon.Pair{Key: p.value("api-key"), Secret: p.value("api-secret")}
	if !secretPattern.MatchString(pair.Key) || !secretPattern.MatchString(pair.Secret) {
		t.Fatal("the page shows no pair")
	}
	return pair
}

func TestCredentialsAreShownOnceAndAgainForThePassword(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.get(apisPath).says("First pair", "Active")
		p := b.fill(apisPath+"/new", apisPath, "label", "Shop server", "password", password).status(http.StatusOK).says("Copy both now", "Shop server")
		pair := pairOn(t, p)
		if _, err := s.Basic(t.Context(), operator.Addr, pair.Key, pair.Secret); err != nil {
			t.Errorf("the pair does not work: %v", err)
		}
		// Loading the page again makes no second pair.
		b.post(apisPath, "label", "Shop server", "password", password).status(http.StatusConflict).wrong("label", "already").silentAbout(pair.Key, pair.Secret)
		for _, path := range []string{apisPath, apisPath + "/2", apisPath + "/2/reveal", apisPath + "/2/rotate", "/api-addons/admin/audit", "/api-addons/admin"} {
			if found := secretPattern.FindString(b.get(path).body); found != "" {
				t.Errorf("%s shows %s", path, found)
			}
		}
		b.post(apisPath+"/2/reveal").status(http.StatusUnprocessableEntity).wrong("password", "Type your password.")
		b.post(apisPath+"/2/reveal", "password", "wrong wrong wrong").status(http.StatusUnprocessableEntity).wrong("password", "").silentAbout(pair.Key, pair.Secret, "wrong wrong wrong")
		if again := pairOn(t, b.post(apisPath+"/2/reveal", "password", password).status(http.StatusOK)); again != pair {
			t.Error("another pair was revealed")
		}
		b.get("/api-addons/admin/audit").says("Looked at the values of API credentials")
	})
}

func TestCredentialsNeedALabel(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	for label, says := range map[string]string{"": "Type a label", "  ": "Type a label", "a\x01b": "control characters", strings.Repeat("x", 101): "longer than 100", "First pair": "already"} {
		b.post(apisPath, "label", label, "password", password).wrong("label", says)
	}
	if all, err := s.Credentials(t.Context(), operator); err != nil || len(all) != 1 {
		t.Errorf("%d pairs, %v", len(all), err)
	}
}

func TestValuesOfCredentialsNeedThePassword(t *testing.T) {
	s := one(t)
	key := s.signedIn(t).get(apisPath + "/1/rotate").form(apisPath + "/1/rotate").Get("ends")
	before := s.audits(t) + 1 // the sign-in
	b := s.signedIn(t)
	for _, tt := range []struct{ rule, path, password, says string }{
		{"nothing is made without it", apisPath, "", "Type your password."},
		{"nothing is made with a wrong one", apisPath, "wrong wrong wrong", "not right"},
		{"nothing is replaced without it", apisPath + "/1/rotate", "", "Type your password."},
		{"nothing is replaced with a wrong one", apisPath + "/1/rotate", "wrong wrong wrong", "not right"},
		{"nothing is shown without it", apisPath + "/1/reveal", "", "Type your password."},
		{"nothing is shown with a wrong one", apisPath + "/1/reveal", "wrong wrong wrong", "not right"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := b.post(tt.path, "label", "Shop server", "ends", key, "password", tt.password).status(http.StatusUnprocessableEntity)
			p.wrong("password", tt.says).silentAbout("wrong wrong wrong")
			if form := p.form(tt.path); !form.Has("password") || form.Has("label") && form.Get("label") != "Shop server" {
				t.Errorf("the form again: %v", form)
			}
			if found := secretPattern.FindString(p.body); found != "" {
				t.Errorf("the page shows %s", found)
			}
			s.wantAudits(t, before)
		})
	}
	for range 7 { // three were wrong already
		b.post(apisPath, "label", "Shop server", "password", "wrong wrong wrong").status(http.StatusUnprocessableEntity)
	}
	for _, path := range []string{apisPath, apisPath + "/1/rotate", apisPath + "/1/reveal"} {
		b.post(path, "label", "Shop server", "ends", key, "password", password).status(http.StatusTooManyRequests)
	}
	s.wantAudits(t, before)
}

func TestCredentialsHaveTwoSwitches(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		path := apisPath + "/1"
		b.fill(path, path, "secret", "-").leadsTo(path)
		b.get(path).says("“First pair” is inactive", "The API secret of “First pair” is inactive", "Both must be active before you go live.")
		b.get("/api-addons/admin").says("The API secret of “First pair” is inactive", "Activate API access")
		b.fill(path, path, "key", "-").leadsTo(path)
		b.get(apisPath).says("No API key and secret are active")
		b.fill(path, path, "secret", "1").leadsTo(path)
		b.get("/api-addons/admin/packages").says("The API key of “First pair” is inactive")
		b.fill(path, path, "key", "1").leadsTo(path)
		if text := b.get(path).says("“First pair” is active").text(); strings.Contains(text, "before you go live. API access") {
			t.Error("the warning is still there")
		}
		c, err := s.Credential(t.Context(), operator, 1)
		if err != nil || !c.Active() {
			t.Errorf("%+v, %v", c, err)
		}
		// A pair that is off as a whole, beside one that works, is left alone.
		b.post(apisPath, "label", "Old server", "password", password).status(http.StatusOK)
		b.post(apisPath + "/2").leadsTo(apisPath + "/2")
		if text := b.get("/api-addons/admin").text(); strings.Contains(text, "Both must be active") {
			t.Error("a pair that was switched off as a whole is warned of")
		}
	})
}

func TestCredentialsAreReplacedOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		first := pairOn(t, b.post(apisPath, "label", "Shop server", "password", password))
		path := apisPath + "/2/rotate"
		form := b.get(path).says("stop working at once", "They have never been used.").form(path)
		form.Set("password", password)
		second := pairOn(t, b.postForm(path, form).status(http.StatusOK).says("The old ones have ended."))
		if second == first {
			t.Fatal("nothing was replaced")
		}
		b.postForm(path, form).leadsTo(apisPath + "/2") // loaded again
		b.get(apisPath + "/2").says("this pair has new values already")
		b.post(path).leadsTo(apisPath + "/2")
		if _, err := s.Basic(t.Context(), operator.Addr, second.Key, second.Secret); err != nil {
			t.Errorf("the new pair does not work: %v", err)
		}
		if _, err := s.Basic(t.Context(), operator.Addr, first.Key, first.Secret); err == nil {
			t.Error("the old pair still works")
		}
	})
}
