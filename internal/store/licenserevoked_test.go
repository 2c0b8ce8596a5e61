package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A purchase that is not good any more has its licenses on the list, and one that
// is good again has not.
func TestARefundPutsLicensesOnTheRevokedList(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		l := f.issue(t, "one", "shop.example")
		other := f.issue(t, "two", "shop.example")
		f.run(t)
		if got := f.revoked(t); len(got) != 0 {
			t.Errorf("revoked: %v", got)
		}
		if _, err := f.EndPurchase(t.Context(), operator, "one", StateRefunded); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{l.License.ID}, f.revoked(t)); diff != "" {
			t.Error(diff)
		}
		_, err := f.Licensing.Issue(t.Context(), buyer, issuer, "one", "shop.example")
		wantError(t, err, "purchase_not_found")
		f.mustImport(t, lines(purchaseText("ada", 1, "one"), purchaseText("ada", 1, "two", `"state":"charged_back"`)))
		if diff := cmp.Diff([]string{other.License.ID}, f.revoked(t)); diff != "" {
			t.Error(diff)
		}
	})
}

// A refund writes nothing to the licenses of a purchase, so its undoing makes them
// valid again, except those that had ended by themselves.
func TestRestoringAPurchaseTakesItsLicensesOffTheRevokedList(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		moved := f.issue(t, "one", "old.example")
		if _, err := f.Licensing.Reassign(t.Context(), operator, issuer, moved.License.ID, "shop.example"); err != nil {
			t.Fatal(err)
		}
		l := f.issue(t, "one", "shop.example")
		f.run(t)
		for _, state := range []string{"refunded", "charged_back", "revoked"} {
			f.mustImport(t, lines(purchaseText("ada", 1, "one", `"state":"`+state+`"`)))
			if got := f.revoked(t); len(got) != 2 {
				t.Errorf("%s: revoked %v", state, got)
			}
			if _, err := f.RestorePurchase(t.Context(), operator, "one"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{moved.License.ID}, f.revoked(t)); diff != "" {
				t.Errorf("%s: %s", state, diff)
			}
			if again := f.issue(t, "one", "shop.example"); again.License.License != l.License.License {
				t.Errorf("%s: %+v, want %+v", state, again.License.License, l.License.License)
			}
		}
	})
}

func TestTheOperatorRevokesALicense(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		l := f.issue(t, "one", "shop.example")
		got, err := f.Licensing.Revoke(t.Context(), operator, l.License.ID)
		if err != nil || got.Ended != "revoked" || !got.EndedAt.Equal(noon) {
			t.Errorf("%+v, %v", got, err)
		}
		if diff := cmp.Diff([]string{l.License.ID}, f.revoked(t)); diff != "" {
			t.Error(diff)
		}
		_, err = f.Licensing.Revoke(t.Context(), operator, l.License.ID)
		wantError(t, err, "license_ended")
		_, err = f.Licensing.Revoke(t.Context(), operator, "no-such-license")
		wantError(t, err, "license_not_found")
		for _, domain := range []string{"shop.example", "other.example", "localhost"} {
			_, err = f.Licensing.Issue(t.Context(), buyer, issuer, "one", domain)
			wantError(t, err, "purchase_not_found")
		}
		again, err := f.Licensing.Issue(t.Context(), operator, issuer, "one", "shop.example")
		if err != nil || again.License.ID == l.License.ID {
			t.Fatalf("%+v, %v", again, err)
		}
		if mine := f.issue(t, "one", "shop.example"); mine.Text != again.Text {
			t.Error("the buyer does not get the license that the operator issued")
		}
		if diff := cmp.Diff([]string{l.License.ID}, f.revoked(t)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTheRevokedListIsTheSameWithinAnHour(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		text := func(from string) string {
			d, err := f.Licensing.RevokedList(t.Context(), from)
			if err != nil {
				t.Fatal(err)
			}
			return string(bodyOf(t, d))
		}
		f.run(t)
		first := text(issuer)
		f.clock.set(noon.Add(59 * time.Minute))
		if text(issuer) != first {
			t.Error("another list within the hour")
		}
		if text("") == first {
			t.Error("the same list without the store's address")
		}
		if text(issuer) != first {
			t.Error("another list after one without the store's address")
		}
		f.clock.set(noon.Add(61 * time.Minute))
		if text(issuer) == first {
			t.Error("the same list after an hour")
		}
	})
}
