package membership

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

// notification is a message about a subscription.
func notification(id string, code int64, token string) play.Notification {
	return play.Notification{MessageID: id, Package: "com.example.app", Kind: play.OfSubscription, Code: code, Token: token}
}

func (f *fixture) receive(t *testing.T, list ...play.Notification) {
	t.Helper()
	for _, n := range list {
		must.Do(t, f.Receive(t.Context(), n, []byte(`{}`)))
	}
	if failed := f.run(t); len(failed) > 0 {
		t.Fatal(failed)
	}
}

func TestDuplicateAndOutOfOrderNotificationsChangeNothingThatTheStoreDoesNotSay(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.eventTypes()
		f.receive(t, notification("m1", 12, "token"), notification("m2", 13, "token"), notification("m3", 5, "token"), notification("m3", 5, "token"),
			notification("m4", 10, "token"), notification("m1", 12, "token"))
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
		f.wantEvents(t)
		list, err := f.Messages(t.Context(), program, 0, 10)
		if err != nil || len(list) != 4 {
			t.Errorf("%d messages, %v", len(list), err)
		}
		for _, m := range list {
			if m.ProcessedAt.IsZero() || m.Result != ResultUnchanged {
				t.Errorf("%+v", m)
			}
		}
	})
}

func TestNotificationsAboutOneTokenAreOneQuestion(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		asked := f.store.count("token")
		f.change("token", func(s *play.Subscription) { s.Items[0].ExpiresAt = month.AddDate(0, 1, 0) })
		f.receive(t, notification("m1", 2, "token"), notification("m2", 2, "token"), notification("m3", 3, "token"))
		if got := f.store.count("token") - asked; got != 1 {
			t.Errorf("the store was asked %d times", got)
		}
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
	})
}

func TestANotificationBeforeTheAppsCallIsAttributedByTheAccountID(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		intent, err := f.Intend(t.Context(), "ana", nil)
		if err != nil || len(intent.AccountID) != 43 || intent.Membership.Status != "none" {
			t.Fatalf("%+v, %v", intent, err)
		}
		f.sell("token", sub("gold_monthly", intent.AccountID))
		f.receive(t, notification("m1", 4, "token"))
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
		expect.Equalf(t, f.store.count("acknowledge token"), 1, "not acknowledged")
		if o := f.mustVerify(t, "ana", "token"); o.Result != ResultUpdated && o.Result != ResultUnchanged {
			t.Errorf("%+v", o)
		}
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
	})
}

func TestANotificationAboutNobodysPurchaseWaitsForTheApp(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sell("token", sub("gold_monthly", ""))
		f.receive(t, notification("m1", 4, "token"))
		expect.Equalf(t, f.store.count("acknowledge token"), 0, "acknowledged, although nobody has it")
		if list, err := f.Messages(t.Context(), program, 0, 1); err != nil || list[0].Result != "no owner yet" {
			t.Errorf("%+v, %v", list, err)
		}
		f.mustVerify(t, "ana", "token")
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
	})
}

func TestNotificationsThatNeedNoQuestion(t *testing.T) {
	with := func(change func(*play.Notification)) play.Notification {
		n := notification("m", 4, "token")
		change(&n)
		return n
	}
	cases := []struct {
		name  string
		n     play.Notification
		asked int
		alert string
	}{
		{"a test", with(func(n *play.Notification) { n.Kind, n.Token = play.OfTest, "" }), 0, ""},
		{"a one-time product of others", with(func(n *play.Notification) { n.Kind, n.Code, n.Token = play.OfOneTime, 1, "coins" }), 0, ""},
		{"another app's", with(func(n *play.Notification) { n.Package = "com.example.other" }), 0, alertApplication},
		{"an unknown code is a question and an alert", with(func(n *play.Notification) { n.Code = 21 }), 1, alertNotification},
		{"an unknown kind is a question and an alert", with(func(n *play.Notification) { n.Kind = "new" }), 1, alertNotification},
		{"a dispute is a question and an alert", with(func(n *play.Notification) { n.Kind, n.OrderID = play.OfRefundReview, "GPA.1" }), 1, alertRefundReview},
	}
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				asked := f.store.count(c.n.Token)
				c.n.MessageID = c.name
				f.receive(t, c.n)
				if got := f.store.count(c.n.Token) - asked; got != c.asked {
					t.Errorf("the store was asked %d times", got)
				}
				alerts, err := f.Alerts(t.Context(), program)
				raised := slices.ContainsFunc(alerts, func(a Alert) bool { return a.Kind == c.alert })
				if err != nil || raised != (c.alert != "") {
					t.Errorf("%+v, %v", alerts, err)
				}
				for _, a := range alerts {
					if _, err := f.db.Resolve(t.Context(), a.Kind, a.Subject, f.timestamp()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
	})
}

func TestANotificationIsProcessedAfterACrashAndAfterAnOutage(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.change("token", func(s *play.Subscription) { s.State = play.OnHold })
		must.Do(t, f.Receive(t.Context(), notification("m1", 5, "token"), []byte(`{}`)))
		f.setDown(unavailable)
		if failed := f.run(t); len(failed) != 1 {
			t.Fatal(failed)
		}
		f.mu.Lock()
		clear(f.tasks) // the task is lost
		f.mu.Unlock()
		f.setDown(nil)
		f.clock.Move(time.Hour)
		must.Do(t, f.Start(t.Context()))
		f.run(t)
		f.wantMembership(t, "ana", entitle.OnHold, gold, 2)
	})
}

func TestTheListOfRefundsIsReadToItsEndOrAgainFromTheSameTime(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		must.Get(f.doVoided(t.Context(), nil))(t)
		from := f.now().Add(-entitle.VoidedOverlap)
		f.clock.Move(time.Hour)
		f.store.endless = true
		if _, err := f.doVoided(t.Context(), nil); !fault.HasCode(err, "store_unavailable") {
			t.Errorf("a list without end: %v", err)
		}
		f.store.endless = false
		if _, err := f.doVoided(t.Context(), nil); err != nil || !f.store.since.Equal(from) {
			t.Errorf("%v, read from %s, want %s", err, f.store.since, from)
		}
	})
}

func TestAVoidedNotificationIsLookedForInTheStoresList(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.eventTypes()
		n := notification("m1", 0, "token")
		n.Kind, n.OrderID = play.OfVoid, "GPA.1"
		f.receive(t, n)
		f.wantMembership(t, "ana", entitle.Active, gold, 1) // nothing in the list
		f.store.voided = []play.Voided{{Token: "token", OrderID: "GPA.0", VoidedAt: noon, Reason: 7}, {Token: "other", OrderID: "GPA.1", VoidedAt: noon}}
		f.clock.Move(time.Hour)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 1) // an earlier order
		f.wantEvents(t, "purchase.refunded ana")
		f.store.voided = append(f.store.voided, play.Voided{Token: "token", OrderID: "GPA.1", VoidedAt: noon})
		n.MessageID = "m2"
		f.receive(t, n)
		f.wantMembership(t, "ana", entitle.Revoked, gold, 2)
		f.wantEvents(t, "purchase.refunded ana", "revoked ana")
		f.clock.Move(time.Hour)
		f.run(t)
		f.wantEvents(t)
		if want := f.now().Add(-time.Hour - entitle.VoidedOverlap); !f.store.since.Equal(want) {
			t.Errorf("the list was read from %s, want %s", f.store.since, want)
		}
		f.change("token", func(s *play.Subscription) {
			s.Items[0].ExpiresAt, s.Items[0].OrderID = month.AddDate(0, 1, 0), "GPA.1..0"
		})
		f.mustVerify(t, "ana", "token")
		f.wantMembership(t, "ana", entitle.Active, gold, 3)
	})
}
