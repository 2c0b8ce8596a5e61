package api_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
)

// today is when the scripts in testdata play.
var today = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func now() time.Time { return today }

var operator = people.Operator("test")

// notice is a text of an owner's own key, long enough that compressing pays.
var notice = strings.TrimSpace(strings.Repeat("What you post here stays yours. ", 60))

// sessionCookie is what the fixture takes for somebody who is signed in.
const sessionCookie = "session=ana"

// site is an addon whose API is under test, and what was created for it.
type site struct {
	*addon.Addon
	dir                string
	pair               credential.Values
	setupToken         string
	webToken           string
	serviceAccountFile string
	clock              *dbtest.Clock
	more               map[string]string // for scripts, beside what names has
}

// newSite opens an addon that no update has seen.
func newSite(t testing.TB, at dbtest.DB) *site { return newSiteAt(t, at, "") }

// newSiteAt is newSite with another address in place of Google Play's.
func newSiteAt(t testing.TB, at dbtest.DB, playURL string) *site {
	t.Helper()
	s := &site{dir: at.Dir, clock: dbtest.NewClock(today.Add(-time.Hour))} // the server was started before what the scripts do
	s.Addon = addontest.Open(t, at, addon.Options{Options: instance.Options{Now: s.clock.Now}, PlayURL: playURL})
	s.clock.Move(time.Hour)
	var err error
	s.setupToken, _, err = s.Setup.NewLink(t.Context(), operator)
	check(t, err)
	if err := s.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), "update_needed") {
		t.Fatalf("before the first update: %v", err)
	}
	return s
}

// update runs the first update, which makes the first pair.
func (s *site) update(t testing.TB) *site {
	t.Helper()
	ctx := t.Context()
	_, err := s.Setup.Update(ctx, operator, nil)
	check(t, err)
	all, err := s.Credentials.List(ctx, operator)
	check(t, err)
	_, s.pair, err = s.Credentials.Reveal(ctx, operator, all[0].ID)
	check(t, err)
	s.webToken, _, err = s.Setup.NewWebToken(ctx, operator)
	check(t, err)
	return s
}

// fill publishes what testdata/site.set names.
func (s *site) fill(t testing.TB) *site {
	t.Helper()
	ctx := t.Context()
	for _, p := range []iap.Package{{ID: 2, Name: "Gold & <more>", Rank: 2, Paid: true}, {ID: 3, Name: "Basic"}, {ID: 1, Name: "Silver", Rank: 1, Paid: true}} {
		check(t, s.IAP.AddPackage(ctx, operator, p))
	}
	for _, k := range []struct {
		key   string
		kind  settings.Type
		value string
	}{{"showAds", settings.TypeBool, "false"}, {"minBuild", settings.TypeNumber, "42"}, {"legalNotice", settings.TypeText, notice}} {
		_, err := s.Settings.AddKey(ctx, operator, settings.Edit{}, k.key, k.kind, k.value)
		check(t, err)
	}
	s.serviceAccountFile = serviceAccountFile()
	_, err := s.Settings.Set(ctx, operator, settings.Edit{}, map[string]string{
		settings.KeyAppName:                   "Café Social & <Größe> ☕",
		settings.KeyIDPIOSClientID:            "123456789012-ios0abc1def2.apps.googleusercontent.com",
		settings.KeyIDPAndroidClientID:        "123456789012-web0abc1def2.apps.googleusercontent.com",
		settings.KeyPushEnabled:               "1",
		settings.KeyPushAppID:                 "3e0a1c52-7b0f-4b44-9b1e-000000000001",
		settings.KeyPushTimelineAppID:         "3e0a1c52-7b0f-4b44-9b1e-000000000002",
		settings.KeyMessengerURLScheme:        "cafemessenger",
		settings.KeyMessengerAndroidPackageID: "com.cafe.messenger",
		settings.KeyMessengerDomain:           "cafe.example",
		iap.KeyEnabled:                        "1",
		iap.KeyPackageName:                    "com.cafe.social",
		iap.KeyServiceAccount:                 s.serviceAccountFile,
		iap.KeyProductMap:                     `{"store":{"silver.monthly":1,"gold.promo":2,"gold.monthly":2}}`,
	})
	check(t, err)
	_, err = s.Settings.Publish(ctx, operator, 0, "Opening")
	check(t, err)
	return s
}

// run does the addon's background work until the test ends, as a server does.
func (s *site) run(t testing.TB) *site {
	addontest.Run(t, s.Addon)
	return s
}

// options are those of an API as a proxy on this machine reaches it.
func options() api.Options {
	return api.Options{Now: now, Visitor: visitor, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
}

// visitor stands in for the frame: one cookie is somebody who is signed in, and a
// request that another site sent is refused.
func visitor(_ http.ResponseWriter, r *http.Request) (people.Actor, bool, error) {
	if !strings.Contains(r.Header.Get("Cookie"), sessionCookie) {
		return people.Actor{}, false, nil
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return people.Actor{}, false, &countersign.Error{
			Kind: countersign.KindForbidden, Code: "cross_site", Message: "This request came from another site, so nothing was done.",
		}
	}
	return people.Actor{Kind: people.KindUser, ID: "ana@cafe.example", User: 1, Administrator: true, FrontEnd: people.FrontEndPage}, true, nil
}

// names are what live.set tells the scripts.
func (s *site) names() map[string]string {
	names := map[string]string{
		"setup_token": s.setupToken, "session": sessionCookie, "notice": notice,
		"wrong_basic": basic("cak_wrong", "cas_wrong"),
	}
	if s.pair.Key != "" {
		names["api_key"], names["api_secret"], names["web_token"] = s.pair.Key, s.pair.Secret, s.webToken
		names["basic"], names["wrong_secret"] = basic(s.pair.Key, s.pair.Secret), basic(s.pair.Key, s.pair.Key)
		names["user_token"], names["old_user_token"] = s.siteToken("user-7", today), s.siteToken("user-7", today.Add(-time.Hour))
	}
	if s.serviceAccountFile != "" {
		text, _ := json.Marshal(s.serviceAccountFile)
		names["service_account_text"], names["service_account"] = string(text), s.serviceAccountFile
	}
	maps.Copy(names, s.more)
	return names
}

// siteToken is a user token that the site signs itself.
func (s *site) siteToken(user string, at time.Time) string {
	text, _ := usertoken.Mint(credential.SiteTokenKey(s.pair), user, at)
	return text
}

func basic(key, secret string) string {
	return base64.StdEncoding.EncodeToString([]byte(key + ":" + secret))
}

// serviceAccountFile is a real one, on one line.
func serviceAccountFile() string {
	return string(addontest.ServiceAccount(map[string]any{
		"project_id": "cafe-1", "private_key_id": "0a1b2c3d", "client_email": "billing@cafe-1.iam.gserviceaccount.com",
	}))
}

func check(t testing.TB, err error) {
	t.Helper()
	must.Do(t, err)
}

// again opens the same addon once more, as another process would.
func again(t testing.TB, at dbtest.DB) *addon.Addon {
	t.Helper()
	a := addontest.Open(t, at, addon.Options{Options: instance.Options{Now: now}})
	check(t, a.Prepare(t.Context()))
	return a
}
