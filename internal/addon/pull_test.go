package addon_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play/playfake"
)

const (
	pullSubscription = "projects/tuneful/subscriptions/play"
	pullPath         = "/v1/" + pullSubscription + ":pull"
)

// puller is an addon that pulls notifications from a simulated Play.
type puller struct {
	*addontest.Fixture
	play *playfake.Store
	url  string
	// before is called before a request is answered. It returns whether it answered itself.
	before func(w http.ResponseWriter, r *http.Request) bool
}

func pullEngines(t *testing.T, fn func(t *testing.T, p *puller)) {
	t.Helper()
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		store := must.Get(playfake.New(playfake.Options{Package: "com.tuneful.app", Start: noon, AccountKey: addontest.Key(), PushKey: addontest.Key(), Audience: "https://site.example", PushAccount: "push@tuneful.iam.gserviceaccount.com"}))(t)
		p := &puller{Fixture: f, play: store, before: func(http.ResponseWriter, *http.Request) bool { return false }}
		account := must.Get(store.ServiceAccount())(t)
		answers := store.Handler()
		google := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !p.before(w, r) {
				answers.ServeHTTP(w, r)
			}
		}))
		t.Cleanup(google.Close)
		p.url = google.URL
		p.reopen(t)
		p.MustPackage(t, 1, "Gold", true)
		p.MustSet(t, map[string]string{
			iap.KeyEnabled: "1", iap.KeyPackageName: "com.tuneful.app", iap.KeyServiceAccount: string(account),
			iap.KeyProductMap: `{"store":{"gold_monthly":1}}`, iap.KeyPullSubscription: pullSubscription,
		})
		p.MustPublish(t, "")
		fn(t, p)
	})
}

// reopen opens the addon again, with the simulated Play in the place of Google's.
func (p *puller) reopen(t *testing.T) {
	t.Helper()
	f := *p.Fixture
	f.Addon = addontest.Open(t, f.At, addon.Options{Options: instance.Options{Now: f.Clock.Now, Log: slog.New(slog.NewTextHandler(f.Log, nil))}, PlayURL: p.url})
	must.Do(t, f.Prepare(t.Context()))
	p.Fixture = &f
}

// mustPull runs the task once, which asks to be run again after the pause.
func (p *puller) mustPull(t *testing.T) {
	t.Helper()
	if again, err := p.Members.Pull(t.Context(), nil); err != nil || !again.Equal(p.Clock.Now().Add(membership.PullPause)) {
		t.Fatalf("again at %s, %v", again, err)
	}
}

// wantMessages wants so many stored messages, and so many that wait at Google.
func (p *puller) wantMessages(t *testing.T, stored, waiting int) {
	t.Helper()
	list, err := p.Members.Messages(t.Context(), operator, 0, 100)
	if err != nil || len(list) != stored {
		t.Errorf("%d messages stored, %v; want %d", len(list), err, stored)
	}
	for _, m := range p.play.Messages() {
		if !m.Acknowledged {
			waiting--
		}
	}
	expect.Equalf(t, waiting, 0, "fewer messages wait than expected")
}

func (p *puller) wantAlerts(t *testing.T, parts ...string) {
	t.Helper()
	list, err := p.Members.Alerts(t.Context(), operator)
	if err != nil || len(list) != len(parts) {
		t.Fatalf("alerts %+v, %v; want %q", list, err, parts)
	}
	for i, part := range parts {
		if !strings.Contains(list[i].Message, part) {
			t.Errorf("alert %q, want %q", list[i].Message, part)
		}
	}
}

func TestPulledNotificationsAreStoredOnceAndThenAcknowledged(t *testing.T) {
	pullEngines(t, func(t *testing.T, p *puller) {
		for range membership.PullBatch + 3 {
			p.play.SendTest()
		}
		p.wantMessages(t, 0, membership.PullBatch+3)
		p.mustPull(t)
		p.wantMessages(t, membership.PullBatch+3, 0)
		if calls := p.play.Calls(pullPath); calls != 3 {
			t.Errorf("%d calls, want two with messages and one without", calls)
		}
		p.mustPull(t)
		p.wantMessages(t, membership.PullBatch+3, 0)
	})
}

func TestAPulledPurchaseActivatesAMembership(t *testing.T) {
	pullEngines(t, func(t *testing.T, p *puller) {
		intent := must.Get(p.Members.Intend(t.Context(), "7", nil))(t)
		must.Get(p.play.Buy(playfake.BuyOptions{ProductID: "gold_monthly", Account: intent.AccountID}))(t)
		p.mustPull(t)
		if ran, err := p.Instance.Jobs.RunNext(t.Context()); !ran || err != nil {
			t.Fatal(ran, err)
		}
		if m, err := p.Members.Membership(t.Context(), "7"); err != nil || !m.Membership.Active {
			t.Errorf("%+v, %v", m.Membership, err)
		}
	})
}

// What is not acknowledged arrives again, and is stored once.
func TestAMessageThatArrivesAgainChangesNothing(t *testing.T) {
	pullEngines(t, func(t *testing.T, p *puller) {
		p.play.SendTest()
		refused := 0
		p.before = func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, ":acknowledge") && refused == 0 {
				refused++
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			}
			return false
		}
		if _, err := p.Members.Pull(t.Context(), nil); !fault.IsUnavailable(err) {
			t.Error(err)
		}
		p.wantMessages(t, 1, 1)
		p.mustPull(t)
		p.wantMessages(t, 1, 0)
		p.wantAlerts(t)
	})
}

func TestAMessageThatTheDatabaseRefusesIsNotAcknowledged(t *testing.T) {
	pullEngines(t, func(t *testing.T, p *puller) {
		p.play.SendTest()
		addontest.Execute(t, p.At, `ALTER TABLE inbox RENAME TO elsewhere`)
		if _, err := p.Members.Pull(t.Context(), nil); !fault.IsUnavailable(err) {
			t.Error(err)
		}
		addontest.Execute(t, p.At, `ALTER TABLE elsewhere RENAME TO inbox`)
		p.wantMessages(t, 0, 1)
		p.mustPull(t)
		p.wantMessages(t, 1, 0)
	})
}

// It would arrive again for ever.
func TestAMessageThatCannotBeReadIsAcknowledged(t *testing.T) {
	pullEngines(t, func(t *testing.T, p *puller) {
		acknowledged := false
		p.before = func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case strings.HasSuffix(r.URL.Path, ":acknowledge"):
				acknowledged = true
				_, _ = w.Write([]byte(`{}`))
			case r.URL.Path == pullPath && !acknowledged:
				_, _ = w.Write([]byte(`{"receivedMessages":[{"ackId":"a","message":{"messageId":"1","data":"bm90IEpTT04="}}]}`))
			default:
				return false
			}
			return true
		}
		p.mustPull(t)
		p.wantMessages(t, 0, 0)
		if !acknowledged || !strings.Contains(p.Log.String(), "can't be read") {
			t.Errorf("acknowledged: %t, log: %s", acknowledged, p.Log)
		}
	})
}

func TestWhatKeepsNotificationsFromBeingPulledIsAnAlert(t *testing.T) {
	pullEngines(t, func(t *testing.T, p *puller) {
		p.play.SendTest()
		for _, tt := range []struct {
			rule    string
			disturb func()
			alerts  []string
		}{
			{"an outage is over by itself", func() { p.play.Fail(1, 503, "backendError") }, nil},
			{"the permission is missing", func() { p.play.Fail(1, 403, "forbidden") }, []string{"Pub/Sub Subscriber"}},
			{"the subscription is missing", func() { p.play.Fail(1, 404, "notFound") }, []string{pullSubscription}},
		} {
			tt.disturb()
			if _, err := p.Members.Pull(t.Context(), nil); !fault.IsUnavailable(err) {
				t.Errorf("%s: %v", tt.rule, err)
			}
			p.wantAlerts(t, tt.alerts...)
		}
		p.mustPull(t)
		p.wantAlerts(t)
		p.wantMessages(t, 1, 0)
	})
}

// Of several processes, one pulls. Failures make it wait longer each time.
func TestOneProcessPulls(t *testing.T) {
	pullEngines(t, func(t *testing.T, p *puller) {
		other := *p
		other.reopen(t)
		for _, kind := range []string{membership.KindSilence, membership.KindCatalogue} { // of the settings that were published
			must.Do(t, jobs.Discard(t.Context(), p.DB().Queries, kind, membership.RepeatingKey, p.Clock.Now()))
		}
		for _, one := range []*addon.Addon{p.Addon, other.Addon, p.Addon} {
			must.Do(t, one.Members.EnsurePull(t.Context()))
		}
		run := func(a *addon.Addon, want bool) {
			t.Helper()
			if ran, err := a.Instance.Jobs.RunNext(t.Context()); ran != want || err != nil {
				t.Fatalf("ran: %t, %v", ran, err)
			}
		}
		run(p.Addon, true)
		run(other.Addon, false)
		expect.Equalf(t, p.play.Calls(pullPath), 1, "calls")
		for _, wait := range []time.Duration{membership.PullPause, membership.PullPause, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
			p.Clock.Move(wait - time.Second)
			run(p.Addon, false)
			p.Clock.Move(time.Second)
			p.play.Fail(1, 503, "backendError")
			run(p.Addon, true)
		}
		if list, err := jobs.List(t.Context(), p.DB().Queries, membership.KindPull); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestNothingIsPulledWithoutASubscription(t *testing.T) {
	for rule, changes := range map[string]map[string]string{
		"no subscription": {iap.KeyPullSubscription: ""},
		"test mode":       {iap.KeySandboxEnabled: "1"},
		"no app":          {iap.KeyPackageName: ""},
	} {
		t.Run(rule, func(t *testing.T) {
			pullEngines(t, func(t *testing.T, p *puller) {
				p.play.SendTest()
				p.MustSet(t, changes)
				p.MustPublish(t, "")
				if again, err := p.Members.Pull(t.Context(), nil); err != nil || !again.IsZero() {
					t.Errorf("again at %s, %v", again, err)
				}
				if err := p.Members.EnsurePull(t.Context()); err != nil {
					t.Error(err)
				}
				if list, err := jobs.List(t.Context(), p.DB().Queries, membership.KindPull); err != nil || len(list) != 0 {
					t.Errorf("%+v, %v", list, err)
				}
				p.wantMessages(t, 0, 1)
			})
		})
	}
}

func TestAServerPullsFromItsStart(t *testing.T) {
	pullEngines(t, func(t *testing.T, p *puller) {
		p.play.SendTest()
		acknowledged := make(chan struct{}, 1)
		p.before = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, ":acknowledge") {
				acknowledged <- struct{}{}
			}
			return false
		}
		p.Serve(t)
		<-acknowledged
		if list, err := p.Members.Messages(t.Context(), operator, 0, 100); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// A server that stops does not wait for Google, and loses nothing.
func TestAPullEndsWithTheServer(t *testing.T) {
	pullEngines(t, func(t *testing.T, p *puller) {
		ctx, stop := context.WithCancel(t.Context())
		p.before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != pullPath {
				return false
			}
			_, _ = io.Copy(io.Discard, r.Body) // net/http notices the end of a connection after the body
			stop()
			<-r.Context().Done()
			return true
		}
		must.Do(t, p.Members.EnsurePull(t.Context()))
		if ran, err := p.Instance.Jobs.RunNext(ctx); !ran || err != nil {
			t.Fatal(ran, err)
		}
		p.wantAlerts(t)
		p.before = func(http.ResponseWriter, *http.Request) bool { return false }
		p.play.SendTest()
		if ran, err := p.Instance.Jobs.RunNext(t.Context()); !ran || err != nil {
			t.Fatal(ran, err)
		}
		p.wantMessages(t, 1, 0)
	})
}

func TestThePullSubscriptionHasAFullName(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		" ":                                      "",
		" projects/tuneful/subscriptions/play\n": "projects/tuneful/subscriptions/play",
		"projects/example.com:tuneful/subscriptions/p-1": "projects/example.com:tuneful/subscriptions/p-1",
	} {
		if value, problem := iap.CheckSubscription(text); value != want || problem != "" {
			t.Errorf("%q: %q, %s", text, value, problem)
		}
	}
	for _, text := range []string{
		"play", "projects/tuneful/topics/play", "projects//subscriptions/play", "projects/tuneful/subscriptions/play?x", "/projects/tuneful/subscriptions/play",
		"projects/../subscriptions/play", "projects/tuneful/subscriptions/" + strings.Repeat("x", 300),
	} {
		if _, problem := iap.CheckSubscription(text); problem == "" {
			t.Errorf("%q is accepted", text)
		}
	}
}
