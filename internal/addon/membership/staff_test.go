package membership

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/play"
)

func TestAGrantIsASourceOfAMembershipUntilItsEnd(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "silver_monthly")
		f.eventTypes()
		g, err := f.AddGrant(t.Context(), program, "ana", gold, noon.Add(time.Hour), "  sorry for the outage ")
		if err != nil || g.Reason != "sorry for the outage" || g.By != program.ID {
			t.Fatalf("%+v, %v", g, err)
		}
		m, err := f.Membership(t.Context(), "ana")
		if err != nil || m.Membership.Package.ID != gold || *m.Membership.Source != "grant" || m.Membership.ManageURL == nil || m.Membership.Version != 2 {
			t.Errorf("%+v, %v", m, err)
		}
		f.clock.Move(time.Hour)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, silver, 3)
		f.wantEvents(t, "changed ana", "will_not_renew ana", "changed ana")
	})
}

func TestAGrantCanBeEndedOnce(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		g := must.Get(f.AddGrant(t.Context(), program, "ana", gold, time.Time{}, "winner"))(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
		for range 2 {
			ended, err := f.EndGrant(t.Context(), operator, "ana", g.ID)
			if err != nil || ended.EndedBy != operator.ID {
				t.Errorf("%+v, %v", ended, err)
			}
		}
		f.wantMembership(t, "ana", entitle.Expired, gold, 2)
		f.wantEvents(t, "activated ana", "expired ana")
		_, err := f.EndGrant(t.Context(), operator, "ben", g.ID)
		wantCode(t, err, "not_found")
		if list, err := f.Grants(t.Context(), program, "ana"); err != nil || len(list) != 1 || list[0].EndedAt.IsZero() {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestAnotherRankOfAPackageIsDerivedForAllMembers(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for i := range 60 {
			user := fmt.Sprintf("user-%d", i)
			for _, packageID := range []int64{silver, gold} {
				must.Get(f.AddGrant(t.Context(), program, user, packageID, time.Time{}, "winner"))(t)
			}
		}
		must.Do(t, f.db.Tx(t.Context(), func(tx *addondb.DB) error {
			if err := tx.UpdatePackage(t.Context(), addondb.Package{ID: silver, Name: "Platinum", Rank: 9}); err != nil {
				return err
			}
			return f.RulesChanged(t.Context(), tx)
		}))
		f.clock.Move(settingsWait)
		f.run(t)
		for i := range 60 {
			f.wantMembership(t, fmt.Sprintf("user-%d", i), entitle.Active, silver, 3)
		}
	})
}

func TestAnAlertIsDismissedUntilItsCauseComesAgain(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		open := func() int {
			alerts := must.Get(f.Alerts(t.Context(), program))(t)
			return len(alerts)
		}
		f.sell("token", sub("bronze_monthly", ""))
		_, err := f.Verify(t.Context(), "ana", "token", "")
		wantCode(t, err, "product_not_mapped")
		wantCode(t, f.DismissAlert(t.Context(), stranger, alertNotMapped, "bronze_monthly"), "not_allowed")
		wantCode(t, f.DismissAlert(t.Context(), program, alertNotMapped, "bronze_monthly"), "")
		wantCode(t, f.DismissAlert(t.Context(), program, alertNotMapped, "bronze_monthly"), "not_found")
		expect.Equalf(t, open(), 0, "open")
		_, err = f.Verify(t.Context(), "ana", "token", "")
		wantCode(t, err, "product_not_mapped")
		expect.Equalf(t, open(), 1, "open")
	})
}

func TestPackagesThatMembersHaveAreCounted(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		must.Get(f.AddGrant(t.Context(), program, "ana", gold, noon.Add(time.Hour), "winner"))(t)
		want := func(count int64) {
			t.Helper()
			if n, err := f.db.PackageMembers(t.Context(), gold, f.timestamp()); err != nil || n != count {
				t.Errorf("%d, %v, want %d", n, err, count)
			}
		}
		want(2)
		f.clock.Move(time.Hour)
		want(1)
		f.change("token", state(play.Expired))
		f.mustVerify(t, "ana", "token")
		want(0)
	})
}

func TestGrantsThatAreRefused(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, c := range []struct {
			user      string
			packageID int64
			until     time.Time
			reason    string
			code      string
		}{
			{"ana", 9, time.Time{}, "winner", "package_not_found"}, {"", gold, time.Time{}, "winner", "invalid_request"},
			{"ana", gold, noon, "winner", "invalid_request"}, {"ana", gold, time.Time{}, " ", "invalid_request"},
		} {
			_, err := f.AddGrant(t.Context(), program, c.user, c.packageID, c.until, c.reason)
			wantCode(t, err, c.code)
		}
	})
}

func TestOnlyStaffMayChangeMemberships(t *testing.T) {
	publishable := program
	publishable.Secret = false
	engines(t, func(t *testing.T, f *fixture) {
		for _, actor := range []people.Actor{stranger, publishable, {Kind: people.KindUser, ID: "eva@site.example", User: 2}} {
			_, errAddGrant := f.AddGrant(t.Context(), actor, "ana", gold, time.Time{}, "winner")
			_, errEndGrant := f.EndGrant(t.Context(), actor, "ana", 1)
			_, errTransfer := f.Transfer(t.Context(), actor, "pur_x", "ana", "asked")
			_, errRefresh := f.Refresh(t.Context(), actor, "pur_x")
			_, errMessages := f.Messages(t.Context(), actor, 0, 1)
			_, errAlerts := f.Alerts(t.Context(), actor)
			_, errMembershipFor := f.MembershipFor(t.Context(), actor, "ana")
			_, _, errPurchasesFor := f.PurchasesFor(t.Context(), actor, "ana", "", 1)
			_, errGrants := f.Grants(t.Context(), actor, "ana")
			_, errCustomers := f.Customers(t.Context(), actor, CustomerFilter{})
			_, errCustomer := f.Customer(t.Context(), actor, "ana")
			_, errPurchaseFor := f.PurchaseFor(t.Context(), actor, "pur_x")
			_, errDefer := f.Defer(t.Context(), actor, "pur_x", 1)
			_, errMerge := f.Merge(t.Context(), actor, "ana", "ben")
			_, errErase := f.Erase(t.Context(), actor, "ana", true)
			for _, err := range []error{errAddGrant, errEndGrant, errTransfer, errRefresh, errMessages, errAlerts, errMembershipFor, errPurchasesFor, errGrants, errCustomers, errCustomer, errPurchaseFor, errDefer, errMerge, errErase} {
				wantCode(t, err, "not_allowed")
			}
		}
	})
}

func TestATransferByStaffOverrulesTheAccountID(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		o := f.bought(t, "ana", "token", "gold_monthly")
		f.eventTypes()
		must.Get(f.Transfer(t.Context(), program, o.Purchase.ID, "ben", "asked by both"))(t)
		f.wantEvents(t, "transferred ana", "transferred ben")
		f.wantMembership(t, "ana", entitle.None, 0, 2)
		f.wantMembership(t, "ben", entitle.Active, gold, 1)
		_, err := f.Verify(t.Context(), "ana", "token", "")
		wantCode(t, err, "owned_by_other_user")
		f.mustVerify(t, "ben", "token")
		f.wantMembership(t, "ben", entitle.Active, gold, 1)
		_, err = f.Transfer(t.Context(), program, "pur_unknown", "ben", "asked")
		wantCode(t, err, "not_found")
	})
}

func TestAUserTakesAnInactivePurchaseUnderItsPolicy(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.selling.Policy.Owned = entitle.TransferIfInactive
		f.sell("token", sub("gold_monthly", ""))
		f.mustVerify(t, "ana", "token")
		_, err := f.Verify(t.Context(), "ben", "token", "")
		wantCode(t, err, "owned_by_other_user")
		f.change("token", state(play.OnHold))
		f.mustVerify(t, "ana", "token")
		f.eventTypes()
		f.change("token", renewed)
		f.mustVerify(t, "ben", "token")
		f.wantEvents(t, "transferred ana", "transferred ben")
		f.change("token", state(play.OnHold))
		f.mustVerify(t, "ben", "token")
		_, err = f.Verify(t.Context(), "ana", "token", "") // too soon
		wantCode(t, err, "owned_by_other_user")
		f.clock.Move(transferWait)
		f.mustVerify(t, "ana", "token")
	})
}

func TestAThiefGetsNothingAndTheSiteIsToldOnceAnHour(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.eventTypes()
		for range 3 {
			_, err := f.Verify(t.Context(), "ben", "token", "")
			wantCode(t, err, "owned_by_other_user")
		}
		f.wantEvents(t, "purchase.theft_suspected ben")
		f.clock.Move(2 * time.Hour)
		_, err := f.Verify(t.Context(), "ben", "token", "")
		wantCode(t, err, "owned_by_other_user")
		f.wantEvents(t, "purchase.theft_suspected ben")
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
		f.wantMembership(t, "ben", entitle.None, 0, 0)
	})
}

func TestATheftWhoseReportCouldNotBeWrittenIsReportedAtTheNextAttempt(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.eventTypes()
		f.Service.append = func(context.Context, *addondb.DB, events.Event) error { return errors.New("the disk is full") }
		if _, err := f.Verify(t.Context(), "ben", "token", ""); fault.Of(err) != nil {
			t.Errorf("%v", err)
		}
		f.Service.append = f.append
		_, err := f.Verify(t.Context(), "ben", "token", "")
		wantCode(t, err, "owned_by_other_user")
		f.wantEvents(t, "purchase.theft_suspected ben")
	})
}

func TestAnAlertThatCouldNotBeResolvedIsResolvedByTheNextCall(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		must.Do(t, f.notePull(t.Context(), "sub", &play.Error{Reason: play.Unauthorized}))
		interrupted, cancel := context.WithCancel(t.Context())
		cancel()
		if f.notePull(interrupted, "sub", nil) == nil {
			t.Fatal("it was resolved")
		}
		must.Do(t, f.notePull(t.Context(), "sub", nil))
		if open, err := f.Alerts(t.Context(), operator); err != nil || len(open) > 0 {
			t.Errorf("%+v, %v", open, err)
		}
	})
}

func TestStoreActionsAreConfirmedByTheStore(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		o := f.bought(t, "ana", "token", "gold_monthly")
		f.eventTypes()
		if p, err := f.Cancel(t.Context(), program, o.Purchase.ID, false); err != nil || p.AutoRenewing || p.State != "active" {
			t.Errorf("%+v, %v", p, err)
		}
		f.wantEvents(t, "will_not_renew ana")
		if p, err := f.Refund(t.Context(), program, o.Purchase.ID, false); err != nil || p.State != "active" || f.store.count("refund GPA.1") != 1 {
			t.Errorf("%+v, %v", p, err)
		}
		f.wantEvents(t, "purchase.refunded ana")
		f.setDown(unavailable)
		_, err := f.Revoke(t.Context(), program, o.Purchase.ID, true)
		wantCode(t, err, "store_unavailable")
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		f.setDown(nil)
		if p, err := f.Revoke(t.Context(), program, o.Purchase.ID, true); err != nil || p.State != "revoked" {
			t.Errorf("%+v, %v", p, err)
		}
		f.wantEvents(t, "revoked ana")
	})
}

// leaving is a store that does what it is asked, and something happens before it is asked again.
type leaving struct {
	*scripted
	then func()
}

func (l leaving) Revoke(ctx context.Context, token string, refund play.Refund) error {
	defer l.then()
	return l.scripted.Revoke(ctx, token, refund)
}

func TestWhatTheStoreDidIsWrittenDownWhateverHappensThen(t *testing.T) {
	for name, then := range map[string]func(f *fixture, leave func()){
		"the caller goes away":      func(_ *fixture, leave func()) { leave() },
		"the store stops answering": func(f *fixture, _ func()) { f.setDown(unavailable) },
	} {
		t.Run(name, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				o := f.bought(t, "ana", "token", "gold_monthly")
				f.eventTypes()
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				f.openStore = func(iap.Selling) (Store, error) { return leaving{f.store, func() { then(f, leave) }}, nil }
				if _, err := f.Revoke(ctx, program, o.Purchase.ID, true); err != nil {
					t.Error(err)
				}
				written, err := f.db.Audits(t.Context(), peopledb.AuditFilter{Subject: o.Purchase.ID, Limit: 10})
				if err != nil || len(written) != 1 || written[0].Action != access.ActionPurchaseRevoke {
					t.Errorf("the audit log has %+v, %v", written, err)
				}
				f.setDown(nil)
				f.clock.Move(time.Minute)
				f.run(t)
				f.wantMembership(t, "ana", entitle.Revoked, gold, 2)
				f.wantEvents(t, "revoked ana")
			})
		})
	}
}

func TestAnAppHearsThatAnotherMemberPaysForItsStoreAccount(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		for user, want := range map[string]bool{"ana": false, "ben": true} {
			intent, err := f.Intend(t.Context(), user, [][sha256.Size]byte{sha256.Sum256([]byte("token")), sha256.Sum256([]byte("unknown"))})
			if err != nil || intent.OwnedByOther != want {
				t.Errorf("%s: %+v, %v", user, intent, err)
			}
		}
	})
}

func TestAPurchaseIsFoundByUserOrderIDAndToken(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.bought(t, "ana", "token", "gold_monthly").Purchase.ID
		f.change("token", renewed)
		f.mustVerify(t, "ana", "token")
		for text, want := range map[string]int{"ana": 1, " token ": 1, id: 1, "GPA.1": 1, "GPA.1.": 1, "ben": 0, "": 0, "GPA": 0, "a\x00b": 0, "\xff": 0} {
			list, err := f.Find(t.Context(), program, text)
			if err != nil || len(list) != want || want > 0 && (list[0].User != "ana" || list[0].Purchase.ID != id) {
				t.Errorf("%q: %+v, %v", text, list, err)
			}
		}
		moments, err := f.Timeline(t.Context(), program, id)
		if err != nil || len(moments) != 3 || moments[0].OrderID != "GPA.1." || moments[2].Cause != causeVerify || moments[1].Cause != causeAcknowledged {
			t.Errorf("%+v, %v", moments, err)
		}
		_, errFind := f.Find(t.Context(), stranger, "ana")
		_, errTimeline := f.Timeline(t.Context(), stranger, id)
		wantCode(t, errFind, "not_allowed")
		wantCode(t, errTimeline, "not_allowed")
	})
}

func TestPurchasesAreListedByPage(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, token := range []string{"one", "two", "three"} {
			f.bought(t, "ana", token, "gold_monthly")
		}
		f.bought(t, "ben", "four", "gold_monthly")
		first, next, errFirst := f.Purchases(t.Context(), "ana", "", 2)
		second, end, errSecond := f.Purchases(t.Context(), "ana", next, 2)
		if errFirst != nil || errSecond != nil || len(first) != 2 || next != first[1].ID || len(second) != 1 || end != "" {
			t.Errorf("%d, %q, %v; %d, %q, %v", len(first), next, errFirst, len(second), end, errSecond)
		}
		_, _, err := f.Purchases(t.Context(), "ben", next, 2) // another user's cursor
		wantCode(t, err, "not_found")
	})
}
