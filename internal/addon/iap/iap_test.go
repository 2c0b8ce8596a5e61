package iap_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/google/go-cmp/cmp"
)

func TestProductsNeedTheirPackage(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		f.MustPackage(t, 1, "Gold", true)
		_, err := f.Settings.Set(ctx, operator, settings.Edit{}, map[string]string{iap.KeyProductMap: `{"store":{"gold":1,"silver":2}}`})
		addontest.WantFields(t, err, iap.KeyProductMap)
		_, err = f.Settings.AddProduct(ctx, operator, 0, "silver", 2)
		addontest.WantFields(t, err, "package")
		_, err = f.Settings.AddProduct(ctx, operator, 0, "Gold", 1)
		addontest.WantFields(t, err, "product")
		for range 2 { // again is no change
			must.Get(f.Settings.AddProduct(ctx, operator, 0, "gold", 1))(t)
		}
		f.MustPackage(t, 2, "Silver", true)
		_, err = f.Settings.AddProduct(ctx, operator, 0, "gold", 2)
		addontest.WantError(t, err, "product_exists")
		if list, err := f.IAP.Products(ctx, operator); err != nil || !slices.Equal(list, []iap.Product{{StoreID: "gold", PackageID: 1}}) {
			t.Errorf("products %v, %v", list, err)
		}
		expect.Equalf(t, f.Value(t, iap.KeyProductMap), `{"store":{"gold":1}}`, "map")
		_, err = f.Settings.RemoveProduct(ctx, operator, 0, "silver")
		addontest.WantError(t, err, "product_not_found")
		must.Get(f.Settings.RemoveProduct(ctx, operator, 0, "gold"))(t)
		expect.Equalf(t, f.Value(t, iap.KeyProductMap), `{"store":{}}`, "map")
	})
}

// The example of a shop: two packages sold by three products, one free package.
func TestViewOfInAppPurchases(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.MustPackage(t, 20, `Gold & "more"`, true)
		f.MustPackage(t, 3, "Silver", true)
		f.MustPackage(t, 1, "Free", false)
		f.MustSet(t, map[string]string{
			iap.KeyEnabled: "1", iap.KeySandboxEnabled: "1", iap.KeyPackageName: "com.example.app",
			iap.KeyProductMap: `{"store":{"z_gold":20,"silver":3,"a_gold":20}}`,
		})
		must.Get(f.Settings.SetServiceAccount(t.Context(), operator, 0, addontest.ServiceAccount(nil)))(t)
		f.MustPublish(t, "")
		want := `{"enabled":true,"sandbox_enabled":true,"platforms":{"store":{"enabled":true,"package_name":"com.example.app"}},"products":[` +
			`{"package":{"package_id":3,"name":"Silver"},"store_product_ids":["silver"]},` +
			`{"package":{"package_id":20,"name":"Gold & \"more\""},"store_product_ids":["a_gold","z_gold"]}]}`
		expect.Equal(t, cmp.Diff(want, string(f.View(t).JSON)), "")
		// A new name takes effect at once.
		must.Do(t, f.IAP.UpdatePackage(t.Context(), operator, iap.Package{ID: 3, Name: "Argent", Rank: 3, Paid: true}))
		if got := string(f.View(t).JSON); !strings.Contains(got, `"name":"Argent"`) {
			t.Errorf("served %s", got)
		}
	})
}

// The store is enabled when all four are there, and only then.
func TestStoreIsEnabledWhenEverythingIsThere(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		f.MustPackage(t, 1, "Gold", true)
		for mask := range 16 {
			has := func(bit int) bool { return mask&(1<<bit) != 0 }
			must.Do(t, f.Settings.RemoveServiceAccount(ctx, operator, 0))
			set := map[string]string{iap.KeyEnabled: "0", iap.KeyPackageName: "", iap.KeyProductMap: ""}
			if has(0) {
				set[iap.KeyEnabled] = "1"
			}
			if has(1) {
				set[iap.KeyPackageName] = "com.example.app"
			}
			if has(2) {
				set[iap.KeyProductMap] = `{"store":{"gold":1}}`
			}
			if has(3) {
				set[iap.KeyServiceAccount] = string(addontest.ServiceAccount(nil))
			}
			f.MustSet(t, set)
			f.MustPublish(t, "")
			config := string(f.View(t).JSON)
			if got := strings.Contains(config, `"store":{"enabled":true`); got != (mask == 15) {
				t.Errorf("switch %t, application %t, product %t, account %t: %s", has(0), has(1), has(2), has(3), config)
			}
			if got := strings.HasPrefix(config, `{"enabled":true`); got != has(0) {
				t.Errorf("enabled is %t while the switch is %t", got, has(0))
			}
		}
	})
}

// A service account that was sealed with another key file does not count.
func TestStoreIsNotEnabledWhenTheServiceAccountCannotBeOpened(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.MustPackage(t, 1, "Gold", true)
		f.MustSet(t, map[string]string{
			iap.KeyEnabled: "1", iap.KeyPackageName: "com.example.app", iap.KeyProductMap: `{"store":{"gold":1}}`,
			iap.KeyServiceAccount: string(addontest.ServiceAccount(nil)),
		})
		f.MustPublish(t, "")
		addontest.Execute(t, f.At, `UPDATE service_accounts SET sealed = key_sealed FROM credentials`)
		if got := string(f.Again(t).View(t).JSON); !strings.Contains(got, `"store":{"enabled":false`) {
			t.Errorf("served %s", got)
		}
	})
}

func TestPackages(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		f.MustPackage(t, 5, "  Gold ", true)
		addontest.WantError(t, f.IAP.AddPackage(ctx, operator, iap.Package{ID: 5, Name: "Other"}), "package_exists")
		addontest.WantFields(t, f.IAP.AddPackage(ctx, operator, iap.Package{ID: 0, Name: " ", Rank: -1}), "id", "name", "rank")
		addontest.WantFields(t, f.IAP.AddPackage(ctx, operator, iap.Package{ID: 1 << 31, Name: "a\x00b", Rank: 1_000_001}), "id", "name", "rank")
		addontest.WantError(t, f.IAP.UpdatePackage(ctx, operator, iap.Package{ID: 6, Name: "x"}), "package_not_found")
		addontest.WantError(t, f.IAP.RemovePackage(ctx, operator, 6), "package_not_found")
		must.Do(t, f.IAP.UpdatePackage(ctx, user, iap.Package{ID: 5, Name: "Platinum", Rank: 9, Paid: false}))
		list, err := f.IAP.Packages(ctx, program)
		if err != nil || len(list) != 1 || list[0] != (iap.Package{ID: 5, Name: "Platinum", Rank: 9}) {
			t.Errorf("packages %+v, %v", list, err)
		}
		f.MustSet(t, map[string]string{iap.KeyProductMap: `{"store":{"gold":5}}`})
		err = f.IAP.RemovePackage(ctx, operator, 5)
		addontest.WantError(t, err, "package_in_use")
		if !strings.Contains(err.Error(), "The package 5 Platinum is in use: the draft maps gold to it. First remove them from the product map and publish") {
			t.Errorf("it is not said what maps to it: %v", err)
		}
		f.MustPublish(t, "")
		f.MustSet(t, map[string]string{iap.KeyProductMap: ``})
		uses, err := f.IAP.PackageUses(ctx, program)
		if err != nil || len(uses) != 1 || len(uses[5].Draft) != 0 || !slices.Equal(uses[5].Published, []string{"gold"}) || !uses[5].Blocks() {
			t.Errorf("uses %+v, %v", uses, err)
		}
		err = f.IAP.RemovePackage(ctx, operator, 5)
		addontest.WantError(t, err, "package_in_use")
		if !strings.Contains(err.Error(), "the published settings map gold to it. First publish the draft, which no longer maps them") {
			t.Errorf("it is not said what maps to it: %v", err)
		}
		f.MustPublish(t, "")
		addontest.WantError(t, f.IAP.RemovePackage(ctx, operator, 5), "")
		lines := strings.Join(f.Audits(t), "\n")
		for _, want := range []string{
			"tester package.add 5 Gold [cli]:  -> Gold, rank 5, paid",
			"ana@site.example package.update 5 Platinum [page]: Gold, rank 5, paid -> Platinum, rank 9, free",
			"tester package.remove 5 Platinum [cli]: Platinum, rank 9, free -> ",
		} {
			if !strings.Contains(lines, want) {
				t.Errorf("no line %q in\n%s", want, lines)
			}
		}
	})
}

func TestAnotherRankOfAPackageHasMembershipsDerivedAgain(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		gold := iap.Package{ID: 7, Name: "Gold", Rank: 7}
		must.Do(t, f.IAP.AddPackage(t.Context(), operator, gold))
		waiting := func() bool {
			_, err := jobs.Open(t.Context(), addontest.Database(t, f.At).Queries, membership.KindDerive, membership.RepeatingKey)
			if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
				t.Fatal(err)
			}
			return err == nil
		}
		if waiting() {
			t.Fatal("a new package, which nobody has, changes memberships")
		}
		gold.Rank = 1
		must.Do(t, f.IAP.UpdatePackage(t.Context(), operator, gold))
		if !waiting() {
			t.Error("no task derives the memberships again")
		}
	})
}

// Apps take what is in products for subscriptions.
func TestOneTimeProductsAreApartFromSubscriptions(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		f.MustPackage(t, 1, "Gold", true)
		add := func(id string, days int64) {
			t.Helper()
			must.Get(f.Settings.AddOneTimeProduct(ctx, operator, 0, id, 1, days))(t)
		}
		add("gold_pass", 30)
		add("gold_forever", entitle.Lifetime)
		add("gold_monthly", 7)
		if _, err := f.Settings.AddProduct(ctx, operator, 0, "gold_monthly", 1); err != nil { // it is a subscription after all
			t.Fatal(err)
		}
		_, err := f.Settings.AddOneTimeProduct(ctx, operator, 0, "gold_year", 1, 5000)
		addontest.WantFields(t, err, "days")
		f.MustPublish(t, "")
		want := `"products":[{"package":{"package_id":1,"name":"Gold"},"store_product_ids":["gold_monthly"]}],"one_time_products":[` +
			`{"package":{"package_id":1,"name":"Gold"},"store_product_id":"gold_forever","days":null},` +
			`{"package":{"package_id":1,"name":"Gold"},"store_product_id":"gold_pass","days":30}]}`
		if got := string(f.View(t).JSON); !strings.HasSuffix(got, want) {
			t.Error(got)
		}
		if selling, err := f.IAP.Selling(ctx); err != nil || len(selling.Packages) != 3 || !maps.Equal(selling.OneTime, map[string]int64{"gold_forever": 0, "gold_pass": 30}) {
			t.Errorf("%+v, %v", selling.OneTime, err)
		}
		must.Get(f.Settings.RemoveProduct(ctx, operator, 0, "gold_pass"))(t)
		expect.Equal(t, f.Value(t, iap.KeyOneTime), "gold_forever=lifetime")
	})
}
