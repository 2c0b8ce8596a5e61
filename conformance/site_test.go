package conformance

import (
	"context"
	"encoding/base64"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/webtest"
)

// today is when every case begins.
var today = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

var operator = people.Operator("test")

// site is an addon that sells in a simulated Play.
type site struct {
	*addon.Addon
	t      testing.TB
	at     dbtest.DB
	play   simulation
	front  *front
	google string // the address of the simulation
	url    string // the address of the addon
	pair   credential.Values
	clock  *dbtest.Clock // of the addon
	oracle *webtest.Oracle
	now    time.Time // of the simulation
	cursor int64     // of the feed of events
}

// templates are addons that are set up to sell, by the names of the simulations.
var templates = map[string]*dbtest.Template{"playfake": newTemplate("playfake"), "playdoc": newTemplate("playdoc")}

func newTemplate(simulation string) *dbtest.Template {
	return addontest.NewTemplate(today.Add(-2*time.Hour), func(ctx context.Context, a *addon.Addon) error {
		play, err := simulations[simulation](today)
		if err != nil {
			return err
		}
		return setUp(ctx, a, play.serviceAccount())
	})
}

// openAddon opens an addon as a process does.
func openAddon(at dbtest.DB, google string, now func() time.Time) (*addon.Addon, error) {
	return addon.Open(context.Background(), addon.Options{Options: instance.Options{Dir: at.Dir, URL: at.URL, HashCost: people.TestCost, Now: now}, Version: "1.2.3", PlayURL: google})
}

// setUp publishes what a site needs to sell.
func setUp(ctx context.Context, a *addon.Addon, serviceAccount []byte) error {
	for _, p := range []iap.Package{{ID: 1, Name: "Silver", Rank: 1, Paid: true}, {ID: 2, Name: "Gold", Rank: 2, Paid: true}} {
		if err := a.IAP.AddPackage(ctx, operator, p); err != nil {
			return err
		}
	}
	return publish(ctx, a, map[string]string{
		iap.KeyEnabled: "1", iap.KeyPackageName: appPackage, iap.KeyServiceAccount: string(serviceAccount),
		iap.KeyProductMap:   `{"store":{"silver_monthly":1,"gold_monthly":2}}`,
		iap.KeyPushAudience: pushAudience, iap.KeyPushServiceAccount: pushAccount,
	})
}

func publish(ctx context.Context, a *addon.Addon, values map[string]string) error {
	_, err := a.Settings.Set(ctx, operator, settings.Edit{}, values)
	if err == nil {
		_, err = a.Settings.Publish(ctx, operator, 0, "Shop")
	}
	return err
}

// openSite opens a copy of the template of a simulation.
func openSite(t testing.TB, simulation string, at dbtest.DB) *site {
	t.Helper()
	s := &site{t: t, at: at, now: today, clock: dbtest.NewClock(today.Add(-time.Hour))}
	play, err := simulations[simulation](today)
	s.check(err)
	s.oracle, err = oracle()
	s.check(err)
	s.play, s.front = play, newFront(play)
	google := httptest.NewServer(s.front)
	t.Cleanup(google.Close)
	s.google = google.URL
	s.open()
	s.clock.Move(time.Hour) // the server was started before what the cases do
	return s
}

// open opens the addon and serves it.
func (s *site) open() {
	s.t.Helper()
	a, err := openAddon(s.at, s.google, s.clock.Now)
	s.check(err)
	s.t.Cleanup(func() { s.check(a.Close()) })
	s.check(a.Prepare(s.t.Context()))
	s.Addon = a
	s.check(a.Members.Start(s.t.Context()))
	server := httptest.NewServer(api.New(a, apiOptions(s.clock)))
	s.t.Cleanup(server.Close)
	s.url = server.URL
	all, err := a.Credentials.List(s.t.Context(), operator)
	s.check(err)
	_, s.pair, err = a.Credentials.Reveal(s.t.Context(), operator, all[0].ID)
	s.check(err)
}

// apiOptions are those of an API as a proxy on this machine reaches it.
func apiOptions(c *dbtest.Clock) api.Options {
	return api.Options{Now: c.Now, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
}

// oracle compares answers with the OpenAPI document. To read that takes as long as a case.
var oracle = sync.OnceValues(func() (*webtest.Oracle, error) {
	document, err := os.ReadFile("../internal/addon/api/openapi.json")
	if err != nil {
		return nil, err
	}
	return webtest.NewOracle(document)
})

func (s *site) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// pass moves both clocks and does what is due.
func (s *site) pass(d time.Duration) {
	s.t.Helper()
	s.now = s.now.Add(d)
	s.play.move(s.now)
	s.clock.Move(d)
	s.work()
}

// work does the addon's tasks that are due.
func (s *site) work() {
	s.t.Helper()
	s.check(s.RunDue(s.t.Context()))
}

// set publishes settings.
func (s *site) set(values map[string]string) {
	s.t.Helper()
	s.check(publish(s.t.Context(), s.Addon, values))
}

// app is what an app sends for a user.
func (s *site) app(user string) map[string]string {
	token, _ := usertoken.Mint(credential.SiteTokenKey(s.pair), user, s.clock.Now())
	return map[string]string{"X-Api-Key": s.pair.Key, "Authorization": "Bearer " + token}
}

// server is what the server of the site sends.
func (s *site) server() map[string]string {
	text := base64.StdEncoding.EncodeToString([]byte(s.pair.Key + ":" + s.pair.Secret))
	return map[string]string{"Authorization": "Basic " + text, "X-Forwarded-Proto": "https"}
}

// alerts lists the kinds of the open alerts.
func (s *site) alerts() string {
	list, err := s.Members.Alerts(s.t.Context(), operator)
	s.check(err)
	var kinds []string
	for _, a := range list {
		kinds = append(kinds, a.Kind)
	}
	return strings.Join(kinds, " ")
}
