package pages_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
)

// validates reports whether the API takes a key.
func (s team) validates(t *testing.T, value string) bool {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+"/api/account/details", nil))(t)
	r.Header.Set("X-Api-Key", value)
	res := must.Get(http.DefaultClient.Do(r))(t)
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// makeKey makes a secret key of the workspace ada, and returns its address and its value.
func (s team) makeKey(t *testing.T, name string) (path, value string) {
	t.Helper()
	k, value, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: name, Class: store.ClassSecret})
	must.Do(t, err)
	return fmt.Sprintf("/w/ada/settings/api/%d", k.ID), value
}

func TestANewKeyIsShownOnceAndWorks(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "owner")
		b.Get("/w/ada/settings/api/new").Status(http.StatusOK).Says("New key")
		made := b.Post("/w/ada/settings/api/new", "name", "Shop server").Status(http.StatusOK).Says("Your new key", "Secret", "Copy it now")
		value := made.Value("api-key")
		if !strings.HasPrefix(value, "csk_") || made.Header.Get("Cache-Control") != "no-store" || !s.validates(t, value) {
			t.Fatalf("%q, %v", value, made.Header)
		}
		b.Post("/w/ada/settings/api/new", "name", "Shop server").Status(http.StatusConflict).SilentAbout(value).
			Wrong("name", "already has a key").Says("If you have just created it, you can reveal it in the list.")
		for _, page := range []string{"/w/ada/settings/api", "/w/ada/nowhere"} {
			if strings.Contains(b.Get(page).Body, value) {
				t.Errorf("%s has the value of the key", page)
			}
		}
		b.Get("/w/ada/settings/api").Says("Shop server", value[len(value)-4:], "Active", "never")
	})
}

func TestAPublishableKeyHasAnItemAndAnEnd(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "owner")
		form := func(more ...string) *webtest.Page {
			return b.Post("/w/ada/settings/api/new", append([]string{"name", "Plugin", "class", "publishable"}, more...)...)
		}
		form().Status(http.StatusUnprocessableEntity).Wrong("item", "Choose the item")
		form("item", "201").Status(http.StatusNotFound).Wrong("item", "201") // of bob
		form("item", "1229", "expires", "date").Status(http.StatusUnprocessableEntity).Wrong("date", "year, month and day")
		form("item", "1229", "expires", "date", "date", "2026-11-01").Status(http.StatusUnprocessableEntity).Wrong("date", "has passed")
		form("item", "1229", "expires", "90").Status(http.StatusOK).Says("Publishable, item 1229")
		b.Get("/w/ada/settings/api").Says("30 Jan 2027")
		b.Post("/w/ada/settings/api/new", "name", "", "class", "publishable", "expires", "date", "date", "soon").Status(http.StatusUnprocessableEntity).
			Wrong("name", "Type a name").Wrong("item", "Choose the item").Wrong("date", "year, month and day")
		b.Post("/w/ada/settings/api/new", "name", "x", "class", "admin").Status(http.StatusUnprocessableEntity).Wrong("class", "Choose secret or publishable")
	})
}

func TestAKeyIsRevealedAfterThePassword(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, value := s.makeKey(t, "till")
		b := s.as(t, "owner")
		b.Get(path).Status(http.StatusOK).SilentAbout(value)
		b.Post(path+"/reveal", "password", "wrong").Status(http.StatusUnprocessableEntity).SilentAbout(value).Says("The key is not shown.")
		shown := b.Post(path+"/reveal", "password", password).Status(http.StatusOK)
		if shown.Value("api-key") != value || shown.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%q, %v", shown.Value("api-key"), shown.Header)
		}
	})
}

func TestARotatedKeyOverlapsAndLoadingThePageAgainRotatesNothing(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, old := s.makeKey(t, "till")
		b := s.as(t, "owner")
		asked := b.Get(path+"/rotate").Status(http.StatusOK).Says("works until the overlap has passed", "No call in the last 24 hours is logged.")
		form := asked.Form(path + "/rotate")
		form.Set("overlap", "24")
		fresh := b.PostForm(path+"/rotate", form).Status(http.StatusOK).Says("The old value works until").Value("api-key")
		if !s.validates(t, old) || !s.validates(t, fresh) || old == fresh {
			t.Error("a value does not work in the overlap")
		}
		b.PostForm(path+"/rotate", form).LeadsTo(path)
		b.Get(path).Says("rotated already", "The value before the last rotation still works")
		if !s.validates(t, fresh) {
			t.Error("loading the page again has ended the new value")
		}
		again := b.Get(path + "/rotate").Says("ends now").Form(path + "/rotate")
		again.Set("overlap", "0")
		b.PostForm(path+"/rotate", again).Status(http.StatusOK).Says("The old value has ended.")
		if s.validates(t, old) || s.validates(t, fresh) {
			t.Error("an ended value still works")
		}
	})
}

func TestARevokedKeyCanBeRestoredForTenMinutes(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, value := s.makeKey(t, "till")
		b := s.as(t, "owner")
		b.Post(path+"/revoke", "name", "other").Status(http.StatusUnprocessableEntity).Wrong("name", "not the name of the key")
		if !s.validates(t, value) {
			t.Fatal("a refused form has revoked the key")
		}
		b.Post(path+"/revoke", "name", "till").LeadsTo(path)
		if s.validates(t, value) {
			t.Error("a revoked key works")
		}
		b.Get(path).Says("Revoked", "You can restore it for ten minutes")
		b.Post(path + "/restore").LeadsTo(path)
		if !s.validates(t, value) {
			t.Error("a restored key does not work")
		}
	})
}

func TestTheSwitchesOfAWorkspaceHoldFromTheNextCall(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		_, value := s.makeKey(t, "till")
		b := s.as(t, "owner")
		call := func() int {
			res := must.Get(http.Get(s.server.URL + "/api/account/details?api_key=" + value))(t)
			res.Body.Close()
			return res.StatusCode
		}
		if got := call(); got != http.StatusOK {
			t.Fatal(got)
		}
		b.Post("/w/ada/settings/api/switches", "refuse_query_keys", "1", "quota", "60").LeadsTo("/w/ada/settings/api")
		if got := call(); got == http.StatusOK {
			t.Error("a key in the query string is taken")
		}
		if page := b.Get("/w/ada/settings/api"); page.Value("quota") != "60" {
			t.Errorf("quota %q", page.Value("quota"))
		}
		b.Post("/w/ada/settings/api/switches", "quota", "many").Status(http.StatusUnprocessableEntity).Wrong("quota", "whole number")
		w, err := s.Workspace(t.Context(), operator, "ada")
		if err != nil || w.Switches != (store.Switches{RefuseQueryKeys: true, Quota: 60}) {
			t.Errorf("%+v, %v", w.Switches, err)
		}
	})
}

func TestAViewerSeesKeysAndCantChangeThem(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, value := s.makeKey(t, "till")
		b := s.as(t, "viewer")
		b.Get("/w/ada/settings/api").Status(http.StatusOK).Says("till").SilentAbout("New key", "Refuse keys")
		b.Get(path).Status(http.StatusOK).SilentAbout("Reveal", "Revoke", value)
		b.Post(path+"/reveal", "password", password).Status(http.StatusForbidden).Says("This needs the role owner", "owner@shop.example").SilentAbout(value)
	})
}

func TestAKeyOfAnotherWorkspaceIsNotFound(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, _ := s.makeKey(t, "till")
		for _, who := range []string{"stranger", "administrator"} {
			s.as(t, who).Get(strings.Replace(path, "/w/ada/", "/w/bob/", 1)).Status(http.StatusNotFound)
		}
	})
}

func TestSwitchesThatSomebodyElseSavedFirstStay(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		const path, post = "/w/ada/settings/api", "/w/ada/settings/api/switches"
		b := s.as(t, "owner")
		form := b.Get(path).Form(post)
		s.as(t, "administrator").Fill(path, post, "quota", "60").LeadsTo(path)
		form.Set("always_200", "1")
		page := b.PostForm(post, form).Status(http.StatusPreconditionFailed).Says("somebody else saved first", "Calls a minute")
		if w, err := s.Workspace(t.Context(), operator, "ada"); err != nil || w.Switches != (store.Switches{Quota: 60}) {
			t.Fatalf("%+v, %v", w.Switches, err)
		}
		b.PostForm(post, page.Form(post)).LeadsTo(path)
		if w, err := s.Workspace(t.Context(), operator, "ada"); err != nil || w.Switches != (store.Switches{Always200: true}) {
			t.Errorf("%+v, %v", w.Switches, err)
		}
	})
}

func TestTheExpiryOfAKeyStaysUnlessAnotherIsChosen(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "owner")
		b.Post("/w/ada/settings/api/new", "name", "short", "expires", "30").Status(http.StatusOK)
		keys := must.Get(s.Keys(t.Context(), operator, "ada"))(t)
		k := keys[slices.IndexFunc(keys, func(k store.Key) bool { return k.Name == "short" })]
		path := "/w/ada/settings/api/" + strconv.FormatInt(k.ID, 10)
		for chosen, want := range map[string]countersign.Timestamp{"keep": k.ExpiresAt, "": {}} {
			form := b.Get(path + "/expiry").Form(path + "/expiry")
			expect.Equalf(t, form.Get("expires"), "keep", "is chosen")
			form.Set("expires", chosen)
			b.PostForm(path+"/expiry", form).LeadsTo(path)
			if now, err := s.Key(t.Context(), operator, k.ID); err != nil || !now.ExpiresAt.Equal(want.Time) {
				t.Errorf("%q: %v, %v", chosen, now.ExpiresAt, err)
			}
			must.Get(s.SetKeyExpiry(t.Context(), operator, k.ID, k.ExpiresAt))(t)
		}
	})
}
