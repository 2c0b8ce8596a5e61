package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/app"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// shop is a site, and what an app for it carries inside.
type shop struct {
	options app.Options
	key     license.SigningKey
	asked   []string // methods and paths
}

// newShop creates the license for shop.example, and serves settings under /de of a server on this machine.
func newShop(t *testing.T, settings http.HandlerFunc) *shop {
	t.Helper()
	key := must.Get(license.NewSigningKey())(t)
	keys := must.Get(license.NewKeySet(key.Public()))(t)
	text := must.Get(license.Sign(license.License{
		ID: "one", Issuer: "https://store.example", IssuedAt: now, Expires: now.AddDate(1, 0, 0), ItemID: 1229, ItemName: "Rain",
		LicenseType: "Regular", Purchase: strings.Repeat("0f", 16), Domain: "shop.example", Domains: []string{"shop.example", "127.0.0.1"},
	}, key))(t)
	s := &shop{key: key}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
		settings(w, r)
	}))
	t.Cleanup(server.Close)
	s.options = app.Options{License: text, Keys: keys, Site: server.URL + "/de/", Domain: "www.shop.example", Now: func() time.Time { return now }}
	return s
}

func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

const settings = `{"appName":"Rain","pushEnabled":true,"pushAppId":"","retries":1.50}`

func TestStartOpensTheLicenseAndReadsTheSettings(t *testing.T) {
	s := newShop(t, answer(settings))
	started := must.Get(app.Start(t.Context(), s.options))(t)
	want := app.Settings{"appName": "Rain", "pushEnabled": true, "pushAppId": "", "retries": json.Number("1.50")}
	expect.Equal(t, cmp.Diff(want, started.Settings), "")
	if started.License.ItemName != "Rain" || started.Domain != "shop.example" {
		t.Errorf("%+v", started)
	}
	expect.Equal(t, cmp.Diff([]string{"GET /de/api-addons/app/settings"}, s.asked), "")
}

func TestTheDomainIsThatOfTheSiteUnlessGiven(t *testing.T) {
	s := newShop(t, answer(settings))
	s.options.Domain = ""
	started, err := app.Start(t.Context(), s.options)
	if err != nil || started.Domain != "127.0.0.1" {
		t.Errorf("%q, %v", started.Domain, err)
	}
}

func TestALicenseThatIsNotGoodStartsNothing(t *testing.T) {
	tests := []struct {
		name   string
		change func(*app.Options)
		want   error
	}{
		{"a changed license", func(o *app.Options) { o.License = o.License[:len(o.License)-4] + "AAAA" }, license.ErrSignature},
		{"another domain", func(o *app.Options) { o.Domain = "shop.example.evil.test" }, license.ErrWrongDomain},
		{"another site", func(o *app.Options) { o.Domain, o.Site = "", "https://evil.test" }, license.ErrWrongDomain},
		{"an end that has come", func(o *app.Options) { o.Now = func() time.Time { return now.AddDate(1, 0, 0) } }, license.ErrExpired},
		{"a clock far behind", func(o *app.Options) { o.Now = func() time.Time { return now.AddDate(-1, 0, 0) } }, license.ErrNotYetValid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, answer(settings))
			tt.change(&s.options)
			started, err := app.Start(t.Context(), s.options)
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if started.License.ID != "" || started.Settings != nil || len(s.asked) > 0 {
				t.Errorf("%+v, asked for %q", started, s.asked)
			}
		})
	}
}

func TestARevokedLicenseStartsNothing(t *testing.T) {
	s := newShop(t, answer(settings))
	list := func(expires time.Time, ids ...string) string {
		return must.Get(license.SignRevoked(license.Revoked{Issuer: "https://store.example", IssuedAt: now, Expires: expires, IDs: ids}, s.key))(t)
	}
	later := now.Add(time.Hour)
	for _, tt := range []struct {
		name, list string
		want       error
	}{
		{"on the list", list(later, "none", "one"), license.ErrRevoked},
		{"not on the list", list(later, "none"), nil},
		{"on a list that is too old", list(now, "one"), nil},
		{"on a list that somebody else wrote", strings.Repeat("x", 9), nil},
	} {
		s.options.Revoked = tt.list
		if _, err := app.Start(t.Context(), s.options); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestSettingsThatCanNotBeReadLeaveTheLicense(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	tests := []struct {
		name   string
		site   http.HandlerFunc
		reason string
	}{
		{"an addon before its update", status(503, `{"status":"error","msg":"no","message":"run countersign addon update","code":"x"}`), "the site answered 503: run countersign addon update"},
		{"an error that only has msg", status(500, `{"status":"error","msg":"Internal error"}`), "the site answered 500: Internal error"},
		{"an error page", status(404, `<html>`), "the site answered 404"},
		{"a redirect", http.RedirectHandler("/login", http.StatusFound).ServeHTTP, "the site answered 302"},
		{"an answer without content", status(204, ``), "the site answered 204"},
		{"a page in place of settings", answer(`<html>`), "the response is not a JSON object"},
		{"an array", answer(`[]`), "the response is not a JSON object"},
		{"null", answer(`null`), "the response is not a JSON object"},
		{"something after the object", answer(settings + `{}`), "the response is not a JSON object"},
		{"a key twice", answer(`{"appName":"a","appName":"b"}`), "the response is not a JSON object"},
		{"a setting that is null", answer(`{"appName":null}`), `invalid setting "appName": expected a text, a number, true or false`},
		{"a setting that is an object", answer(`{"push":{}}`), `invalid setting "push": expected a text, a number, true or false`},
		{"an answer without an end", answer(`{"appName":"` + strings.Repeat("x", 1<<20) + `"}`), "longer than 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, tt.site)
			started, err := app.Start(t.Context(), s.options)
			var apiErr *countersign.Error
			if !errors.As(err, &apiErr) || apiErr.Kind != countersign.KindUnavailable || apiErr.Cause == nil || !strings.Contains(apiErr.Cause.Error(), tt.reason) {
				t.Errorf("%v", err)
			}
			if started.License.ID != "one" || started.Settings != nil || len(s.asked) != 1 {
				t.Errorf("%+v, asked for %q", started, s.asked)
			}
		})
	}
}

func TestASiteThatIsDownLeavesTheLicense(t *testing.T) {
	s := newShop(t, answer(settings))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	started, err := app.Start(ctx, s.options)
	if started.License.ID != "one" || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", started, err)
	}
}

func TestTheCallersClientIsUsedButFollowsNoRedirect(t *testing.T) {
	s := newShop(t, http.RedirectHandler("/elsewhere", http.StatusFound).ServeHTTP)
	followed := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}
	s.options.HTTP = followed
	if _, err := app.Start(t.Context(), s.options); err == nil || len(s.asked) != 1 {
		t.Errorf("%v, asked for %q", err, s.asked)
	}
	if followed.CheckRedirect == nil {
		t.Error("the caller's client was changed")
	}
}

func TestASiteIsAnAddress(t *testing.T) {
	for _, site := range []string{"", "shop.example", "ftp://shop.example", "https://", "https://shop.example/?a=b", "https://shop.example/#a", "https://ada:secret@shop.example", "://"} {
		s := newShop(t, answer(settings))
		s.options.Site = site
		_, err := app.Start(t.Context(), s.options)
		var apiErr *countersign.Error
		if !errors.As(err, &apiErr) || apiErr.Kind != countersign.KindInvalid || len(s.asked) > 0 {
			t.Errorf("%q: %v", site, err)
		}
	}
}

func FuzzSettings(f *testing.F) {
	for _, seed := range []string{settings, `{"a":{}}`, `{"a":1e400}`, `{"a":"\ud800"}`, `[]`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s, err := app.ParseSettings([]byte(body))
		if err != nil {
			return
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		if same, err := app.ParseSettings(again); err != nil || !cmp.Equal(s, same) {
			t.Fatalf("%q, %q: %v", body, again, err)
		}
	})
}
