package transfer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

func TestLicensesComeAlongInExportAndImport(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Allow(t, 1, func(l *licensing.Rule) {
			*l = licensing.Rule{RegularDomains: 2, ExtendedDomains: 5, MovesAYear: 1, MoveWaitHours: 2, Wildcard: true, StagingHosts: []string{"staging.*"}}
		})
		one := f.Issue(t, "one", "*.shop.example")
		f.Issue(t, "one", "localhost")
		f.Issue(t, "two", "shop.example")
		moved := must.Get(f.Licensing.Move(t.Context(), storetest.Buyer, storetest.Issuer, "two", "", "new.example"))(t)
		bobs := f.Issue(t, "bobs", "shop.example")
		must.Get(f.Licensing.Revoke(t.Context(), storetest.Operator, bobs.License.ID))(t)
		file := f.MustExport(t, false)
		other := storetest.Prepared(t, dbtest.New(t, f.At.Engine))
		report := other.MustImport(t, file)
		if report.Licenses != (transfer.Moved{New: 5}) || report.LicenseKeys != (transfer.Moved{New: 1}) {
			t.Errorf("%+v", report)
		}
		if again := other.MustImport(t, file); again.Licenses != (transfer.Moved{Same: 5}) || again.LicenseKeys != (transfer.Moved{Same: 1}) || again.Items.Changed != 0 {
			t.Errorf("a second time: %+v", again)
		}
		if got := other.MustExport(t, false); got != file {
			t.Errorf("the other store exports\n%s\nwant\n%s", got, file)
		}
		// The other store signs with a key of its own, and opens what this one signed.
		expect.NoError(t, other.Opens(t, one))
		if again := other.Issue(t, "one", "shop.example"); again.License.ID != one.License.ID || other.Opens(t, again) != nil {
			t.Error("not the license that was imported")
		}
		if got, want := other.Revoked(t), f.Revoked(t); !slices.Equal(got, want) {
			t.Errorf("revoked: %v, want %v", got, want)
		}
		_, err := other.Licensing.Move(t.Context(), storetest.Buyer, storetest.Issuer, "two", moved.Domain, "third.example")
		storetest.WantError(t, err, "moves_used")
		_, err = other.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "bobs", "shop.example")
		storetest.WantError(t, err, "purchase_not_found")
	})
}

func TestAnOlderFileUndoesNoEndOfALicense(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, "one", "shop.example")
		older := f.MustExport(t, false)
		must.Get(f.Licensing.Move(t.Context(), storetest.Buyer, storetest.Issuer, "one", "", "new.example"))(t)
		newer := f.MustExport(t, false)
		if report := f.MustImport(t, older); report.Licenses != (transfer.Moved{Same: 1}) {
			t.Errorf("%+v", report.Licenses)
		}
		if got := f.Revoked(t); !slices.Equal(got, []string{l.License.ID}) {
			t.Errorf("revoked: %v", got)
		}
		other := storetest.Prepared(t, dbtest.New(t, f.At.Engine))
		other.MustImport(t, older)
		if report := other.MustImport(t, newer); report.Licenses != (transfer.Moved{New: 1, Changed: 1}) {
			t.Errorf("%+v", report.Licenses)
		}
		expect.Equalf(t, other.MustExport(t, false), newer, "the newer file did not bring the store up to date")
	})
}

func TestBadLinesOfLicenses(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Issue(t, "one", "shop.example")
		line := func(id, code, domain string, members ...string) string {
			return storetest.Object(members, `"type":"license"`, `"id":"`+id+`"`, `"purchase_code":"`+code+`"`, `"domain":"`+domain+`"`, `"issued_at":"2026-01-01T00:00:00Z"`)
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
			{storetest.Lines(line("a", "two", "a.example"), line("b", "two", "a.example")), "the purchase has another license for this domain"},
			{storetest.Lines(line("a", "two", "a.example"), line("a", "one", "a.example")), "the lines 1 and 2 have the same id and differ in purchase_code"},
			{key("a", "AAAA"), "invalid id or public"},
			{key("", strings.Repeat("A", 43)), "invalid id or public"},
			{storetest.ItemText("ada", 9, `"licensing":{"regular_domains":-1}`), "licensing.regular_domains"},
			{storetest.ItemText("ada", 9, `"licensing":{"staging_hosts":["co.uk"]}`), "licensing.staging_hosts"},
		} {
			_, bad := f.ImportText(t, c.line, transfer.ImportOptions{})
			if len(bad) != 1 || !strings.Contains(bad[0].Reason, c.reason) {
				t.Errorf("%s\n%v, want %q", c.line, bad, c.reason)
			}
		}
		expect.Equalf(t, f.Rows(t, "licenses"), 1, "licenses")
	})
}

// A line that says nothing of licensing leaves it, and a line that says a part of
// it says all of it.
func TestLicensingInLines(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		show := func() licensing.Rule {
			i := must.Get(f.ShowItem(t.Context(), storetest.Operator, 1))(t)
			return i.Licensing
		}
		if got := show(); got.RegularDomains != 1 || got.ExtendedDomains != 1 || got.MovesAYear != 3 || got.MoveWaitHours != 24 || got.Wildcard {
			t.Errorf("a new item has %+v", got)
		}
		f.MustImport(t, storetest.ItemText("ada", 1, `"licensing":{"regular_domains":4,"wildcard":true}`))
		f.MustImport(t, storetest.ItemText("ada", 1, `"name":"Renamed"`))
		if got := show(); got.RegularDomains != 4 || !got.Wildcard || got.MovesAYear != 3 {
			t.Errorf("%+v", got)
		}
		f.MustImport(t, storetest.ItemText("ada", 1, `"licensing":{"moves_a_year":9}`))
		if got := show(); got.RegularDomains != 1 || got.Wildcard || got.MovesAYear != 9 {
			t.Errorf("%+v", got)
		}
	})
}
