package licensing_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/google/go-cmp/cmp"
)

// A purchase that is not good any more has its licenses on the list, and one that
// is good again has not.
func TestARefundPutsLicensesOnTheRevokedList(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, "one", "shop.example")
		other := f.Issue(t, "two", "shop.example")
		f.Start(t, f.Licensing.Database())
		if got := f.Revoked(t); len(got) != 0 {
			t.Errorf("revoked: %v", got)
		}
		must.Get(f.EndPurchase(t.Context(), storetest.Operator, "one", store.StateRefunded))(t)
		expect.Equal(t, cmp.Diff([]string{l.License.ID}, f.Revoked(t)), "")
		_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "shop.example")
		storetest.WantError(t, err, "purchase_not_found")
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "one"), storetest.PurchaseText("ada", 1, "two", `"state":"charged_back"`)))
		expect.Equal(t, cmp.Diff([]string{other.License.ID}, f.Revoked(t)), "")
	})
}

// A refund writes nothing to the licenses of a purchase, so its undoing makes them
// valid again, except those that had ended by themselves.
func TestRestoringAPurchaseTakesItsLicensesOffTheRevokedList(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		moved := f.Issue(t, "one", "old.example")
		must.Get(f.Licensing.Reassign(t.Context(), storetest.Operator, storetest.Issuer, moved.License.ID, "shop.example"))(t)
		l := f.Issue(t, "one", "shop.example")
		f.Start(t, f.Licensing.Database())
		for _, state := range []string{"refunded", "charged_back", "revoked"} {
			f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "one", `"state":"`+state+`"`)))
			if got := f.Revoked(t); len(got) != 2 {
				t.Errorf("%s: revoked %v", state, got)
			}
			must.Get(f.RestorePurchase(t.Context(), storetest.Operator, "one"))(t)
			expect.Equalf(t, cmp.Diff([]string{moved.License.ID}, f.Revoked(t)), "", "%s", state)
			if again := f.Issue(t, "one", "shop.example"); again.License.License != l.License.License {
				t.Errorf("%s: %+v, want %+v", state, again.License.License, l.License.License)
			}
		}
	})
}

func TestTheOperatorRevokesALicense(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, "one", "shop.example")
		got, err := f.Licensing.Revoke(t.Context(), storetest.Operator, l.License.ID)
		if err != nil || got.Ended != "revoked" || !got.EndedAt.Equal(storetest.Noon) {
			t.Errorf("%+v, %v", got, err)
		}
		expect.Equal(t, cmp.Diff([]string{l.License.ID}, f.Revoked(t)), "")
		_, err = f.Licensing.Revoke(t.Context(), storetest.Operator, l.License.ID)
		storetest.WantError(t, err, "license_ended")
		_, err = f.Licensing.Revoke(t.Context(), storetest.Operator, "no-such-license")
		storetest.WantError(t, err, "license_not_found")
		for _, domain := range []string{"shop.example", "other.example", "localhost"} {
			_, err = f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", domain)
			storetest.WantError(t, err, "purchase_not_found")
		}
		again, err := f.Licensing.Issue(t.Context(), storetest.Operator, storetest.Issuer, "one", "shop.example")
		if err != nil || again.License.ID == l.License.ID {
			t.Fatalf("%+v, %v", again, err)
		}
		if mine := f.Issue(t, "one", "shop.example"); mine.Text != again.Text {
			t.Error("the buyer does not get the license that the operator issued")
		}
		expect.Equal(t, cmp.Diff([]string{l.License.ID}, f.Revoked(t)), "")
	})
}

func TestTheRevokedListIsTheSameWithinAnHour(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		text := func(from string) string {
			d := must.Get(f.Licensing.RevokedList(t.Context(), from))(t)
			return string(d.Plain.Body)
		}
		f.Start(t, f.Licensing.Database())
		first := text(storetest.Issuer)
		f.Clock.Set(storetest.Noon.Add(59 * time.Minute))
		expect.Equalf(t, text(storetest.Issuer), first, "another list within the hour")
		if text("") == first {
			t.Error("the same list without the store's address")
		}
		expect.Equalf(t, text(storetest.Issuer), first, "another list after one without the store's address")
		f.Clock.Set(storetest.Noon.Add(61 * time.Minute))
		if text(storetest.Issuer) == first {
			t.Error("the same list after an hour")
		}
	})
}

// What another process changes is served: the list by its refund, the key set by
// its rotation.
func TestLicensesInMemoryFollowOtherProcesses(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, "one", "shop.example")
		heard := make(chan string, 100)
		f.Licensing.Database().Watch(sqldb.Watcher{Changed: func(topic, _ string) { heard <- topic }, Lost: func() {}, Live: func() {}})
		f.Start(t, f.Licensing.Database())
		hear := func(topic string) {
			for storetest.Await(t, heard) != topic {
			}
		}
		if len(f.Revoked(t)) != 0 || f.KeySet(t).Len() != 1 {
			t.Error("not what is expected at the start")
		}
		other := f.Again(t)
		must.Get(other.EndPurchase(t.Context(), storetest.Operator, "one", store.StateRefunded))(t)
		hear(storedb.TopicLicenses)
		if got := f.Revoked(t); len(got) != 1 || got[0] != l.License.ID {
			t.Errorf("revoked: %v", got)
		}
		must.Get(other.Licensing.RotateKey(t.Context(), storetest.Operator, false))(t)
		hear(storedb.TopicLicenseKeys)
		expect.Equalf(t, f.KeySet(t).Len(), 2, "keys")
	})
}
