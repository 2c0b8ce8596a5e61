package store

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/countersign/countersign/license"
)

func (f *fixture) opens(t testing.TB, l licensing.Signed) error {
	t.Helper()
	_, err := license.Open(l.Text, f.keySet(t), l.Domain, f.clock.Now())
	return err
}

func TestTheFirstKeyIsMadeWhenItIsNeeded(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		if f.rows(t, "license_keys") != 0 {
			t.Error("there is a key before any license")
		}
		f.run(t)
		other := f.again(t)
		other.run(t)
		var all sync.WaitGroup
		for range 50 {
			for _, process := range []*fixture{f, other} {
				all.Go(func() {
					if _, err := process.Licensing.KeySet(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		if n := f.rows(t, "license_keys"); n != 1 {
			t.Errorf("%d keys", n)
		}
	})
}

func TestARotationLeavesEarlierLicensesGood(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.run(t)
		before := f.issue(t, "one", "shop.example")
		f.clock.set(noon.Add(time.Hour))
		k, err := f.Licensing.RotateKey(t.Context(), operator, false)
		if err != nil {
			t.Fatal(err)
		}
		if f.opens(t, before) != nil || f.keySet(t).Len() != 2 {
			t.Error("the license from before does not open")
		}
		after := f.issue(t, "one", "shop.example")
		if after.Text == before.Text || after.License.ID != before.License.ID || f.opens(t, after) != nil {
			t.Error("the new key does not sign")
		}
		if got := f.audits(t); got[len(got)-1] != "license_key.rotate  "+k.ID {
			t.Errorf("%q", got[len(got)-1])
		}
		// Another process hears of it.
		if f.again(t).opens(t, after) != nil {
			t.Error("the license does not open elsewhere")
		}
	})
}

func TestDroppedKeysOpenNothing(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.run(t)
		before := f.issue(t, "one", "shop.example")
		if _, err := f.Licensing.RotateKey(t.Context(), operator, true); err != nil {
			t.Fatal(err)
		}
		if f.opens(t, before) == nil || f.keySet(t).Len() != 1 {
			t.Error("a dropped key still opens licenses")
		}
		if f.opens(t, f.issue(t, "one", "shop.example")) != nil {
			t.Error("the license that is issued again does not open")
		}
	})
}

func TestThereAreAsManyKeysAsClientsRead(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		for range 32 {
			if _, err := f.Licensing.RotateKey(t.Context(), operator, false); err != nil {
				t.Fatal(err)
			}
		}
		if f.keySet(t).Len() != 32 {
			t.Errorf("%d keys", f.keySet(t).Len())
		}
		_, err := f.Licensing.RotateKey(t.Context(), operator, false)
		wantError(t, err, "license_keys_full")
		if _, err := f.Licensing.RotateKey(t.Context(), operator, true); err != nil || f.keySet(t).Len() != 1 {
			t.Errorf("%v, %d keys", err, f.keySet(t).Len())
		}
	})
}

// The seed is in the database only under the key file, and in no export.
func TestThePrivateKeyIsSealedAndNeverExported(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.issue(t, "one", "shop.example")
		list, err := f.Licensing.Keys(t.Context(), operator)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d keys, %v", len(list), err)
		}
		signed := list[0].ID
		seed, err := f.gate.Box().Open("license key "+list[0].ID, list[0].Sealed)
		if err != nil {
			t.Fatal(err)
		}
		kept := f.dump(t, "license_keys")
		export := f.mustExport(t, true)
		for _, form := range []string{string(seed), base64.RawURLEncoding.EncodeToString(seed), base64.StdEncoding.EncodeToString(seed), strings.ToLower(hexOf(seed))} {
			if strings.Contains(kept, form) || strings.Contains(export, form) {
				t.Error("the private key is in clear")
			}
		}
		if strings.Contains(export, "sealed") || strings.Contains(export, hexOf(list[0].Sealed)) || strings.Contains(export, base64.RawURLEncoding.EncodeToString(list[0].Sealed)) {
			t.Error("the sealed private key is in the export")
		}
		if _, err := f.Licensing.RotateKey(t.Context(), operator, false); err != nil {
			t.Fatal(err)
		}
		list, err = f.Licensing.Keys(t.Context(), operator)
		for _, k := range list {
			if (k.ID == signed) != (k.Sealed == nil && !k.RetiredAt.IsZero()) {
				t.Errorf("%+v, %v: a key that signs no more keeps no private part", k, err)
			}
		}
	})
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

func TestARekeyKeepsLicensesAndTheirKey(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		before := f.issue(t, "one", "shop.example")
		plan, err := f.Rekey(t.Context(), operator)
		if err != nil || plan.LicenseKey != "" {
			t.Fatalf("%+v, %v", plan, err)
		}
		after := f.issue(t, "one", "shop.example")
		if f.opens(t, before) != nil || f.opens(t, after) != nil || after.License.ID != before.License.ID {
			t.Error("licenses are not what they were")
		}
		if f.keySet(t).Len() != 1 {
			t.Errorf("%d keys", f.keySet(t).Len())
		}
		got, err := f.Licensing.Check(t.Context(), buyer, licensing.CheckRequest{ID: before.License.ID, Domain: "shop.example"})
		if err != nil || !got.Valid {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestARekeyWithoutTheOldKeyFileMakesANewKeyForLicenses(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		before := f.issue(t, "one", "shop.example")
		if err := os.Remove(filepath.Join(f.at.Dir, keyfile.FileName)); err != nil {
			t.Fatal(err)
		}
		list, err := f.Licensing.Keys(t.Context(), operator)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := f.Rekey(t.Context(), operator)
		if err != nil || plan.LicenseKey != list[0].ID {
			t.Fatalf("%+v, %v", plan, err)
		}
		after := f.issue(t, "one", "shop.example")
		if f.opens(t, before) != nil || f.opens(t, after) != nil || after.Text == before.Text || f.keySet(t).Len() != 2 {
			t.Error("the old license and the new one should both open")
		}
	})
}

func TestLicensesComeAlongInExportAndImport(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.allow(t, 1, func(l *licensing.Rule) {
			*l = licensing.Rule{RegularDomains: 2, ExtendedDomains: 5, MovesAYear: 1, MoveWaitHours: 2, Wildcard: true, StagingHosts: []string{"staging.*"}}
		})
		one := f.issue(t, "one", "*.shop.example")
		f.issue(t, "one", "localhost")
		f.issue(t, "two", "shop.example")
		moved, err := f.Licensing.Move(t.Context(), buyer, issuer, "two", "", "new.example")
		if err != nil {
			t.Fatal(err)
		}
		bobs := f.issue(t, "bobs", "shop.example")
		if _, err := f.Licensing.Revoke(t.Context(), operator, bobs.License.ID); err != nil {
			t.Fatal(err)
		}
		file := f.mustExport(t, false)
		other := prepared(t, dbtest.New(t, f.at.Engine))
		report := other.mustImport(t, file)
		if report.Licenses != (transfer.Moved{New: 5}) || report.LicenseKeys != (transfer.Moved{New: 1}) {
			t.Errorf("%+v", report)
		}
		if again := other.mustImport(t, file); again.Licenses != (transfer.Moved{Same: 5}) || again.LicenseKeys != (transfer.Moved{Same: 1}) || again.Items.Changed != 0 {
			t.Errorf("a second time: %+v", again)
		}
		if got := other.mustExport(t, false); got != file {
			t.Errorf("the other store exports\n%s\nwant\n%s", got, file)
		}
		// The other store signs with a key of its own, and opens what this one signed.
		if err := other.opens(t, one); err != nil {
			t.Error(err)
		}
		if again := other.issue(t, "one", "shop.example"); again.License.ID != one.License.ID || other.opens(t, again) != nil {
			t.Error("not the license that was imported")
		}
		if got, want := other.revoked(t), f.revoked(t); !slices.Equal(got, want) {
			t.Errorf("revoked: %v, want %v", got, want)
		}
		_, err = other.Licensing.Move(t.Context(), buyer, issuer, "two", moved.Domain, "third.example")
		wantError(t, err, "moves_used")
		_, err = other.Licensing.Issue(t.Context(), buyer, issuer, "bobs", "shop.example")
		wantError(t, err, "purchase_not_found")
	})
}

func TestAnOlderFileUndoesNoEndOfALicense(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		l := f.issue(t, "one", "shop.example")
		older := f.mustExport(t, false)
		if _, err := f.Licensing.Move(t.Context(), buyer, issuer, "one", "", "new.example"); err != nil {
			t.Fatal(err)
		}
		newer := f.mustExport(t, false)
		if report := f.mustImport(t, older); report.Licenses != (transfer.Moved{Same: 1}) {
			t.Errorf("%+v", report.Licenses)
		}
		if got := f.revoked(t); !slices.Equal(got, []string{l.License.ID}) {
			t.Errorf("revoked: %v", got)
		}
		other := prepared(t, dbtest.New(t, f.at.Engine))
		other.mustImport(t, older)
		if report := other.mustImport(t, newer); report.Licenses != (transfer.Moved{New: 1, Changed: 1}) {
			t.Errorf("%+v", report.Licenses)
		}
		if got := other.mustExport(t, false); got != newer {
			t.Error("the newer file did not bring the store up to date")
		}
	})
}

func TestBadLinesOfLicenses(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.issue(t, "one", "shop.example")
		line := func(id, code, domain string, members ...string) string {
			return object(members, `"type":"license"`, `"id":"`+id+`"`, `"purchase_code":"`+code+`"`, `"domain":"`+domain+`"`, `"issued_at":"2026-01-01T00:00:00Z"`)
		}
		key := func(id, public string) string {
			return `{"type":"license_key","id":"` + id + `","public":"` + public + `","created_at":"2026-01-01T00:00:00Z"}`
		}
		for _, c := range []struct{ line, reason string }{
			{line("a", "nobody", "shop.example"), "no purchase has this code"},
			{line("a", "", "shop.example"), "a purchase code is"},
			{line("", "two", "shop.example"), "invalid id of a license"},
			{line("a b", "two", "shop.example"), "invalid id of a license"},
			{line("a", "two", "co.uk"), "domain:"},
			{line("a", "two", "WWW.shop.example"), `domain "WWW.shop.example": write it as "shop.example"`},
			{line("a", "two", "shop.example", `"ended":"moved"`), "ended and ended_at"},
			{line("a", "two", "shop.example", `"ended_at":"2026-01-01T00:00:00Z"`), "ended and ended_at"},
			{line("a", "two", "shop.example", `"ended":"lost"`, `"ended_at":"2026-01-01T00:00:00Z"`), `invalid ended "lost"`},
			{line("a", "two", "shop.example", `"issued_at":null`), "issued_at"},
			{line("a", "two", "shop.example", `"sealed":"x"`), "unknown member"},
			{line("a", "one", "shop.example"), "the purchase has another license for this domain"},
			{lines(line("a", "two", "a.example"), line("b", "two", "a.example")), "the purchase has another license for this domain"},
			{lines(line("a", "two", "a.example"), line("a", "one", "a.example")), "this license id already exists for another purchase or domain"},
			{key("a", "AAAA"), "invalid id or public"},
			{key("", strings.Repeat("A", 43)), "invalid id or public"},
			{itemText("ada", 9, `"licensing":{"regular_domains":-1}`), "licensing.regular_domains"},
			{itemText("ada", 9, `"licensing":{"staging_hosts":["co.uk"]}`), "licensing.staging_hosts"},
		} {
			_, bad := f.importText(t, c.line, transfer.ImportOptions{})
			if len(bad) != 1 || !strings.Contains(bad[0].Reason, c.reason) {
				t.Errorf("%s\n%v, want %q", c.line, bad, c.reason)
			}
		}
		if f.rows(t, "licenses") != 1 {
			t.Errorf("%d licenses", f.rows(t, "licenses"))
		}
	})
}

// A line that says nothing of licensing leaves it, and a line that says a part of
// it says all of it.
func TestLicensingInLines(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		show := func() licensing.Rule {
			i, err := f.ShowItem(t.Context(), operator, 1)
			if err != nil {
				t.Fatal(err)
			}
			return i.Licensing
		}
		if got := show(); got.RegularDomains != 1 || got.ExtendedDomains != 1 || got.MovesAYear != 3 || got.MoveWaitHours != 24 || got.Wildcard {
			t.Errorf("a new item has %+v", got)
		}
		f.mustImport(t, itemText("ada", 1, `"licensing":{"regular_domains":4,"wildcard":true}`))
		f.mustImport(t, itemText("ada", 1, `"name":"Renamed"`))
		if got := show(); got.RegularDomains != 4 || !got.Wildcard || got.MovesAYear != 3 {
			t.Errorf("%+v", got)
		}
		f.mustImport(t, itemText("ada", 1, `"licensing":{"moves_a_year":9}`))
		if got := show(); got.RegularDomains != 1 || got.Wildcard || got.MovesAYear != 9 {
			t.Errorf("%+v", got)
		}
	})
}

// A rekey can leave one key more than clients read.
func TestTheKeySetIsNeverLongerThanClientsRead(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		for range 32 {
			if _, err := f.Licensing.RotateKey(t.Context(), operator, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(filepath.Join(f.at.Dir, keyfile.FileName)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Rekey(t.Context(), operator); err != nil {
			t.Fatal(err)
		}
		if err := f.opens(t, f.issue(t, "one", "shop.example")); err != nil || f.keySet(t).Len() != 32 || f.rows(t, "license_keys") != 33 {
			t.Errorf("%v, %d keys", err, f.keySet(t).Len())
		}
	})
}
