package store

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
)

func TestCheckCodes(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.allow(t, 1, func(l *Licensing) { l.ExtendedDomains = 2; l.StagingHosts = []string{"staging.*"} })
		one, two, plain := f.issue(t, "one", "shop.example"), f.issue(t, "two", "shop.example"), f.issue(t, "plain", "shop.example")
		free := f.issue(t, "one", "localhost")
		f.issue(t, "extended", "shop.example")
		rows, audits := f.rows(t, "licenses"), len(f.audits(t))
		for _, c := range []struct {
			name string
			q    LicenseQuestion
			want string
		}{
			{"a code and its domain", LicenseQuestion{Code: " ONE ", Domain: "https://www.shop.example/"}, "valid"},
			{"its own item", LicenseQuestion{Code: "one", Domain: "shop.example", Item: "1"}, "valid"},
			{"another item", LicenseQuestion{Code: "one", Domain: "shop.example", Item: "2"}, "item_mismatch"},
			{"an item that is none", LicenseQuestion{Code: "one", Domain: "shop.example", Item: "x"}, "item_mismatch"},
			{"another domain when none is left", LicenseQuestion{Code: "one", Domain: "other.example"}, "limit_reached"},
			{"another domain when one is left", LicenseQuestion{Code: "extended", Domain: "other.example"}, "domain_not_activated"},
			{"a code without a license", LicenseQuestion{Code: "bobs", Domain: "other.example"}, "domain_not_activated"},
			{"a test domain without a license", LicenseQuestion{Code: "bobs", Domain: "x.test"}, "valid"},
			{"a staging host", LicenseQuestion{Code: "one", Domain: "staging.shop.example"}, "valid"},
			{"support that has ended", LicenseQuestion{Code: "two", Domain: "shop.example"}, "support_lapsed"},
			{"support of an item without any", LicenseQuestion{Code: "plain", Domain: "shop.example"}, "valid"},
			{"an unknown code", LicenseQuestion{Code: "nobody", Domain: "shop.example"}, "not_found"},
			{"no code", LicenseQuestion{Domain: "shop.example"}, "not_found"},
			{"a license and its domain", LicenseQuestion{ID: one.License.ID, Domain: "shop.example"}, "valid"},
			{"a license and another domain", LicenseQuestion{ID: one.License.ID, Domain: "shop.example.evil.test"}, "domain_mismatch"},
			{"a license and a test domain", LicenseQuestion{ID: one.License.ID, Domain: "localhost"}, "domain_mismatch"},
			{"a license for a test domain", LicenseQuestion{ID: free.License.ID, Domain: "localhost"}, "valid"},
			{"a license and another item", LicenseQuestion{ID: one.License.ID, Domain: "shop.example", Item: "2"}, "item_mismatch"},
			{"a license whose support has ended", LicenseQuestion{ID: two.License.ID, Domain: "shop.example"}, "support_lapsed"},
			{"a license of an item without support", LicenseQuestion{ID: plain.License.ID, Domain: "shop.example"}, "valid"},
			{"an unknown license", LicenseQuestion{ID: "nothing", Domain: "shop.example"}, "not_found"},
			{"an id that is none", LicenseQuestion{ID: "no thing\x00", Domain: "shop.example"}, "not_found"},
			{"a license and its code", LicenseQuestion{ID: one.License.ID, Code: "one", Domain: "shop.example"}, "valid"},
			{"a license and another code", LicenseQuestion{ID: one.License.ID, Code: "two", Domain: "shop.example"}, "not_found"},
			{"an unknown code and no domain", LicenseQuestion{Code: "nobody"}, "not_found"},
		} {
			got, err := f.CheckLicense(t.Context(), buyer, c.q)
			if err != nil || got.Code != c.want || got.Valid != (c.want == "valid" || c.want == "support_lapsed") {
				t.Errorf("%s: %+v, %v, want %q", c.name, got, err, c.want)
			}
		}
		for _, domain := range []string{"", "co.uk", "a b"} {
			_, err := f.CheckLicense(t.Context(), buyer, LicenseQuestion{Code: "one", Domain: domain})
			wantError(t, err, "domain_invalid")
		}
		if f.rows(t, "licenses") != rows || len(f.audits(t)) != audits {
			t.Error("a check has written")
		}
	})
}

// What became of a purchase or a license is for the workspace's secret keys and
// the operator.
func TestCheckTellsStrangersNothingOfWhatHasEnded(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		ids := map[string]string{}
		for _, code := range []string{"one", "two", "extended", "plain", "bobs"} {
			ids[code] = f.issue(t, code, "shop.example").License.ID
		}
		f.mustImport(t, lines(
			purchaseText("ada", 1, "one", `"state":"refunded"`), purchaseText("ada", 1, "two", `"state":"charged_back"`),
			purchaseText("ada", 1, "extended", `"license_type":"Extended"`, `"state":"revoked"`),
		))
		if _, err := f.RevokeLicense(t.Context(), operator, ids["plain"]); err != nil {
			t.Fatal(err)
		}
		if _, err := f.MoveLicense(t.Context(), buyer, issuer, "bobs", "", "new.example"); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"one": "refunded", "two": "charged_back", "extended": "revoked", "plain": "revoked"}
		actor := func(n NewKey) people.Actor {
			_, token := f.mustCreate(t, n)
			return f.actorOf(t, token)
		}
		told := []people.Actor{operator, actor(NewKey{Workspace: "ada", Name: "a"})}
		strangers := []people.Actor{
			buyer, actor(NewKey{Workspace: "bob", Name: "b"}), actor(NewKey{Workspace: "ada", Name: "c", Class: ClassPublishable, Item: 1}),
		}
		ask := func(a people.Actor, q LicenseQuestion, want string) {
			t.Helper()
			got, err := f.CheckLicense(t.Context(), a, q)
			if err != nil || got != (countersign.LicenseCheck{Code: want}) {
				t.Errorf("%s %s %+v: %+v, %v, want %q", a.Kind, a.ID, q, got, err, want)
			}
		}
		for code, is := range want {
			for _, domain := range []string{"shop.example", "co.uk", ""} {
				for _, q := range []LicenseQuestion{{Code: code, Domain: domain}, {ID: ids[code], Domain: domain}, {Code: code, Domain: domain, Item: "77"}} {
					for _, a := range told {
						ask(a, q, is)
					}
					for _, a := range strangers {
						ask(a, q, "not_found")
					}
				}
			}
		}
		moved := LicenseQuestion{ID: ids["bobs"], Domain: "shop.example"}
		ask(operator, moved, "revoked")
		ask(buyer, moved, "not_found")
	})
}
