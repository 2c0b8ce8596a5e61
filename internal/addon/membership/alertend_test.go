package membership

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

// The cause of each alert ends, and the alert with it.
func TestAnAlertEndsWithItsCause(t *testing.T) {
	const day = 24 * time.Hour
	read := func(t *testing.T, f *fixture) { _, _ = f.Verify(t.Context(), "ana", "token", "") }
	published := func(t *testing.T, f *fixture) {
		t.Helper()
		must.Do(t, f.db.Tx(t.Context(), func(tx *addondb.DB) error { return f.Published(t.Context(), tx, iap.Values{}, iap.Values{}) }))
		f.clock.Move(endAlertsWait)
		f.run(t)
	}
	hourly := func(t *testing.T, f *fixture) {
		t.Helper()
		must.Get(f.doSilence(t.Context(), nil))(t)
	}
	pulled := func(t *testing.T, f *fixture, failed error) {
		t.Helper()
		must.Do(t, f.notePull(t.Context(), "projects/p/subscriptions/s", failed))
	}
	for _, c := range []struct {
		kind, cause string
		begin, end  func(t *testing.T, f *fixture)
	}{
		{alertNotAuthorised, "a permission", func(t *testing.T, f *fixture) { f.setDown(&play.Error{Reason: play.Unauthorized}); read(t, f) },
			func(t *testing.T, f *fixture) { f.setDown(nil); read(t, f) }},
		{alertNotAuthorised, "a service account", func(t *testing.T, f *fixture) { f.setDown(&play.Error{Reason: play.Unauthorized}); read(t, f) },
			func(t *testing.T, f *fixture) { f.selling.ServiceAccount = nil; published(t, f) }},
		{alertRefused, "a call that is accepted later", func(t *testing.T, f *fixture) { f.setDown(&play.Error{Reason: play.Refused}); read(t, f) },
			func(t *testing.T, f *fixture) { f.setDown(nil); read(t, f) }},
		{alertRefused, "a call that is not made again", func(t *testing.T, f *fixture) { f.setDown(&play.Error{Reason: play.Refused}); read(t, f) },
			func(t *testing.T, f *fixture) { f.clock.Move(2*day + time.Second); hourly(t, f) }},
		{alertPull, "a permission", func(t *testing.T, f *fixture) { pulled(t, f, &play.Error{Reason: play.Unauthorized}) },
			func(t *testing.T, f *fixture) { pulled(t, f, nil) }},
		{alertPull, "a subscription", func(t *testing.T, f *fixture) { pulled(t, f, &play.Error{Reason: play.Refused}) },
			func(t *testing.T, f *fixture) { f.selling.PullSubscription = ""; published(t, f) }},
		{alertNotMapped, "a map", func(t *testing.T, f *fixture) {
			f.selling.Packages = map[string]int64{"silver_monthly": silver}
			read(t, f)
		},
			func(t *testing.T, f *fixture) {
				f.selling.Packages = map[string]int64{"gold_monthly": gold}
				published(t, f)
			}},
		{alertProduct, "the catalogue", func(t *testing.T, f *fixture) { f.store.products = f.store.products[:1]; published(t, f) },
			func(t *testing.T, f *fixture) {
				f.store.products = []play.Product{active("gold_monthly", false), active("silver_monthly", false)}
				published(t, f)
			}},
		{alertProduct, "a map", func(t *testing.T, f *fixture) { f.store.products = f.store.products[:1]; published(t, f) },
			func(t *testing.T, f *fixture) {
				f.selling.Packages = map[string]int64{"gold_monthly": gold}
				published(t, f)
			}},
		{alertApplication, "the application id", func(t *testing.T, f *fixture) {
			n := notification("m1", 4, "token")
			n.Package = "com.example.other"
			f.receive(t, n)
		}, func(t *testing.T, f *fixture) { f.selling.Application = "com.example.other"; published(t, f) }},
		{alertApplication, "the topic", func(t *testing.T, f *fixture) {
			n := notification("m1", 4, "token")
			n.Package = "com.example.other"
			f.receive(t, n)
		}, func(t *testing.T, f *fixture) { f.clock.Move(2*day + time.Second); hourly(t, f) }},
		{alertNotification, "a code", func(t *testing.T, f *fixture) { f.receive(t, notification("m1", 21, "token")) },
			func(t *testing.T, f *fixture) { f.clock.Move(30*day + time.Second); hourly(t, f) }},
		{alertNotification, "an older version", func(t *testing.T, f *fixture) {
			must.Do(t, f.raise(t.Context(), f.db, alertNotification, "22", "unknown"))
		}, hourly},
		{alertRefundReview, "the time for an answer", func(t *testing.T, f *fixture) {
			n := notification("m1", 0, "token")
			n.Kind, n.OrderID = play.OfRefundReview, "GPA.1"
			f.receive(t, n)
		}, func(t *testing.T, f *fixture) { f.clock.Move(reviewTime + time.Second); hourly(t, f) }},
		{alertUnknownState, "the state", func(t *testing.T, f *fixture) {
			f.change("token", func(s *play.Subscription) { s.State = "new" })
			read(t, f)
		}, func(t *testing.T, f *fixture) {
			f.change("token", func(s *play.Subscription) { s.State = play.Active })
			read(t, f)
			f.clock.Move(endAlertsWait)
			f.run(t)
		}},
		{alertUnacknowledged, "somebody else's acknowledgement", func(t *testing.T, f *fixture) {
			f.store.refusing = unavailable
			read(t, f)
			f.clock.Move(entitle.AcknowledgeAlarm + time.Second)
			f.run(t)
		}, func(t *testing.T, f *fixture) {
			f.change("token", func(s *play.Subscription) { s.Acknowledged = true })
			read(t, f)
		}},
		{alertUnacknowledged, "the purchase", func(t *testing.T, f *fixture) {
			f.store.refusing = unavailable
			read(t, f)
			f.clock.Move(entitle.AcknowledgeAlarm + time.Second)
			f.run(t)
		}, func(t *testing.T, f *fixture) {
			must.Get(f.Erase(t.Context(), operator, "ana", true))(t)
			hourly(t, f)
		}},
		{alertSilence, "purchases", func(t *testing.T, f *fixture) {
			read(t, f)
			f.change("token", renewed)
			f.clock.Move(month.Sub(noon) + time.Minute)
			f.run(t)
			hourly(t, f)
		}, func(t *testing.T, f *fixture) {
			must.Get(f.Erase(t.Context(), operator, "ana", true))(t)
			f.clock.Move(2*day + time.Minute)
			hourly(t, f)
		}},
	} {
		t.Run(c.kind+" because of "+c.cause, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				f.sell("token", sub("gold_monthly", f.accountOf("ana")))
				f.selling.PullSubscription = "projects/p/subscriptions/s"
				c.begin(t, f)
				if len(f.subjects(t, c.kind)) != 1 {
					t.Fatalf("begun: %q", f.subjects(t, c.kind))
				}
				if c.cause != "an older version" {
					hourly(t, f)
					expect.Equalf(t, len(f.subjects(t, c.kind)), 1, "it ended before its cause")
				}
				c.end(t, f)
				if left := f.subjects(t, c.kind); len(left) > 0 {
					t.Errorf("open: %q", left)
				}
			})
		})
	}
}
