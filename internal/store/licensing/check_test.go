package licensing_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestCheckCodes(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Allow(t, 1, func(l *licensing.Rule) { l.ExtendedDomains = 2; l.StagingHosts = []string{"staging.*"} })
		one, two, plain := f.Issue(t, "one", "shop.example"), f.Issue(t, "two", "shop.example"), f.Issue(t, "plain", "shop.example")
		free := f.Issue(t, "one", "localhost")
		f.Issue(t, "extended", "shop.example")
		rows, audits := f.Rows(t, "licenses"), len(f.Audits(t))
		for _, c := range []struct {
			name string
			q    licensing.CheckRequest
			want string
		}{
			{"a code and its domain", licensing.CheckRequest{Code: " ONE ", Domain: "https://www.shop.example/"}, "valid"},
			{"its own item", licensing.CheckRequest{Code: "one", Domain: "shop.example", Item: "1"}, "valid"},
			{"another item", licensing.CheckRequest{Code: "one", Domain: "shop.example", Item: "2"}, "item_mismatch"},
			{"an item that is not valid", licensing.CheckRequest{Code: "one", Domain: "shop.example", Item: "x"}, "item_mismatch"},
			{"another domain when none is left", licensing.CheckRequest{Code: "one", Domain: "other.example"}, "limit_reached"},
			{"another domain when one is left", licensing.CheckRequest{Code: "extended", Domain: "other.example"}, "domain_not_activated"},
			{"a code without a license", licensing.CheckRequest{Code: "bobs", Domain: "other.example"}, "domain_not_activated"},
			{"a test domain without a license", licensing.CheckRequest{Code: "bobs", Domain: "x.test"}, "valid"},
			{"a staging host", licensing.CheckRequest{Code: "one", Domain: "staging.shop.example"}, "valid"},
			{"support that has ended", licensing.CheckRequest{Code: "two", Domain: "shop.example"}, "support_lapsed"},
			{"support of an item without any", licensing.CheckRequest{Code: "plain", Domain: "shop.example"}, "valid"},
			{"an unknown code", licensing.CheckRequest{Code: "nobody", Domain: "shop.example"}, "not_found"},
			{"no code", licensing.CheckRequest{Domain: "shop.example"}, "not_found"},
			{"a license and its domain", licensing.CheckRequest{ID: one.License.ID, Domain: "shop.example"}, "valid"},
			{"a license and another domain", licensing.CheckRequest{ID: one.License.ID, Domain: "shop.example.evil.test"}, "domain_mismatch"},
			{"a license and a test domain", licensing.CheckRequest{ID: one.License.ID, Domain: "localhost"}, "domain_mismatch"},
			{"a license for a test domain", licensing.CheckRequest{ID: free.License.ID, Domain: "localhost"}, "valid"},
			{"a license and another item", licensing.CheckRequest{ID: one.License.ID, Domain: "shop.example", Item: "2"}, "item_mismatch"},
			{"a license whose support has ended", licensing.CheckRequest{ID: two.License.ID, Domain: "shop.example"}, "support_lapsed"},
			{"a license of an item without support", licensing.CheckRequest{ID: plain.License.ID, Domain: "shop.example"}, "valid"},
			{"an unknown license", licensing.CheckRequest{ID: "nothing", Domain: "shop.example"}, "not_found"},
			{"an id that is not valid", licensing.CheckRequest{ID: "no thing\x00", Domain: "shop.example"}, "not_found"},
			{"a license and its code", licensing.CheckRequest{ID: one.License.ID, Code: "one", Domain: "shop.example"}, "valid"},
			{"a license and another code", licensing.CheckRequest{ID: one.License.ID, Code: "two", Domain: "shop.example"}, "not_found"},
			{"an unknown code and no domain", licensing.CheckRequest{Code: "nobody"}, "not_found"},
		} {
			got, err := f.Licensing.Check(t.Context(), storetest.Buyer, c.q)
			if err != nil || got.Code != c.want || got.Valid != (c.want == "valid" || c.want == "support_lapsed") {
				t.Errorf("%s: %+v, %v, want %q", c.name, got, err, c.want)
			}
		}
		for _, domain := range []string{"", "co.uk", "a b"} {
			_, err := f.Licensing.Check(t.Context(), storetest.Buyer, licensing.CheckRequest{Code: "one", Domain: domain})
			storetest.WantError(t, err, "domain_invalid")
		}
		if f.Rows(t, "licenses") != rows || len(f.Audits(t)) != audits {
			t.Error("a check has written")
		}
	})
}

// What became of a purchase or a license is for the workspace's secret keys and
// the operator.
func TestCheckTellsStrangersNothingOfWhatHasEnded(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		ids := map[string]string{}
		for _, code := range []string{"one", "two", "extended", "plain", "bobs"} {
			ids[code] = f.Issue(t, code, "shop.example").License.ID
		}
		f.MustImport(t, storetest.Lines(
			storetest.PurchaseText("ada", 1, "one", `"state":"refunded"`), storetest.PurchaseText("ada", 1, "two", `"state":"charged_back"`),
			storetest.PurchaseText("ada", 1, "extended", `"license_type":"Extended"`, `"state":"revoked"`),
		))
		must.Get(f.Licensing.Revoke(t.Context(), storetest.Operator, ids["plain"]))(t)
		must.Get(f.Licensing.Move(t.Context(), storetest.Buyer, storetest.Issuer, "bobs", "", "new.example"))(t)
		want := map[string]string{"one": "refunded", "two": "charged_back", "extended": "revoked", "plain": "revoked"}
		actor := func(n store.NewKey) people.Actor {
			_, token := f.MustCreate(t, n)
			return f.ActorOf(t, token)
		}
		told := []people.Actor{storetest.Operator, actor(store.NewKey{Workspace: "ada", Name: "a"})}
		strangers := []people.Actor{
			storetest.Buyer, actor(store.NewKey{Workspace: "bob", Name: "b"}), actor(store.NewKey{Workspace: "ada", Name: "c", Class: store.ClassPublishable, Item: 1}),
		}
		ask := func(a people.Actor, q licensing.CheckRequest, want string) {
			t.Helper()
			got, err := f.Licensing.Check(t.Context(), a, q)
			if err != nil || got != (countersign.LicenseCheck{Code: want}) {
				t.Errorf("%s %s %+v: %+v, %v, want %q", a.Kind, a.ID, q, got, err, want)
			}
		}
		for code, is := range want {
			for _, domain := range []string{"shop.example", "co.uk", ""} {
				for _, q := range []licensing.CheckRequest{{Code: code, Domain: domain}, {ID: ids[code], Domain: domain}, {Code: code, Domain: domain, Item: "77"}} {
					for _, a := range told {
						ask(a, q, is)
					}
					for _, a := range strangers {
						ask(a, q, "not_found")
					}
				}
			}
		}
		moved := licensing.CheckRequest{ID: ids["bobs"], Domain: "shop.example"}
		ask(storetest.Operator, moved, "revoked")
		ask(storetest.Buyer, moved, "not_found")
	})
}
