package addon

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/google/go-cmp/cmp"
)

func TestProductsNeedTheirPackage(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.mustPackage(t, 1, "Gold", true)
		_, err := f.Settings.Set(ctx, operator, settings.Edit{}, map[string]string{iap.KeyProductMap: `{"store":{"gold":1,"silver":2}}`})
		wantFields(t, err, iap.KeyProductMap)
		_, err = f.Settings.AddProduct(ctx, operator, 0, "silver", 2)
		wantFields(t, err, "package")
		_, err = f.Settings.AddProduct(ctx, operator, 0, "Gold", 1)
		wantFields(t, err, "product")
		for range 2 { // again is no change
			if _, err := f.Settings.AddProduct(ctx, operator, 0, "gold", 1); err != nil {
				t.Fatal(err)
			}
		}
		f.mustPackage(t, 2, "Silver", true)
		_, err = f.Settings.AddProduct(ctx, operator, 0, "gold", 2)
		wantError(t, err, "product_exists")
		if list, err := f.IAP.Products(ctx, operator); err != nil || !slices.Equal(list, []iap.Product{{StoreID: "gold", PackageID: 1}}) {
			t.Errorf("products %v, %v", list, err)
		}
		if got := f.value(t, iap.KeyProductMap); got != `{"store":{"gold":1}}` {
			t.Errorf("map %s", got)
		}
		_, err = f.Settings.RemoveProduct(ctx, operator, 0, "silver")
		wantError(t, err, "product_not_found")
		if _, err := f.Settings.RemoveProduct(ctx, operator, 0, "gold"); err != nil {
			t.Fatal(err)
		}
		if got := f.value(t, iap.KeyProductMap); got != `{"store":{}}` {
			t.Errorf("map %s", got)
		}
	})
}

// The example of a shop: two packages sold by three products, one free package.
func TestViewOfInAppPurchases(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.mustPackage(t, 20, `Gold & "more"`, true)
		f.mustPackage(t, 3, "Silver", true)
		f.mustPackage(t, 1, "Free", false)
		f.mustSet(t, map[string]string{
			iap.KeyEnabled: "1", iap.KeySandboxEnabled: "1", iap.KeyPackageName: "com.example.app",
			iap.KeyProductMap: `{"store":{"z_gold":20,"silver":3,"a_gold":20}}`,
		})
		if _, err := f.Settings.SetServiceAccount(t.Context(), operator, 0, accountFile(nil)); err != nil {
			t.Fatal(err)
		}
		f.mustPublish(t, "")
		want := `{"enabled":true,"sandbox_enabled":true,"platforms":{"store":{"enabled":true,"package_name":"com.example.app"}},"products":[` +
			`{"package":{"package_id":3,"name":"Silver"},"store_product_ids":["silver"]},` +
			`{"package":{"package_id":20,"name":"Gold & \"more\""},"store_product_ids":["a_gold","z_gold"]}]}`
		if diff := cmp.Diff(want, string(f.view(t).JSON)); diff != "" {
			t.Error(diff)
		}
		// A new name takes effect at once.
		if err := f.IAP.UpdatePackage(t.Context(), operator, iap.Package{ID: 3, Name: "Argent", Rank: 3, Paid: true}); err != nil {
			t.Fatal(err)
		}
		if got := string(f.view(t).JSON); !strings.Contains(got, `"name":"Argent"`) {
			t.Errorf("served %s", got)
		}
	})
}

// The store is enabled when all four are there, and only then.
func TestStoreIsEnabledWhenEverythingIsThere(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.mustPackage(t, 1, "Gold", true)
		for mask := range 16 {
			has := func(bit int) bool { return mask&(1<<bit) != 0 }
			if err := f.Settings.RemoveServiceAccount(ctx, operator, 0); err != nil {
				t.Fatal(err)
			}
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
				set[iap.KeyServiceAccount] = string(accountFile(nil))
			}
			f.mustSet(t, set)
			f.mustPublish(t, "")
			config := string(f.view(t).JSON)
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
	engines(t, func(t *testing.T, f *fixture) {
		f.mustPackage(t, 1, "Gold", true)
		f.mustSet(t, map[string]string{
			iap.KeyEnabled: "1", iap.KeyPackageName: "com.example.app", iap.KeyProductMap: `{"store":{"gold":1}}`,
			iap.KeyServiceAccount: string(accountFile(nil)),
		})
		f.mustPublish(t, "")
		if _, err := f.db.Exec(t.Context(), `UPDATE service_accounts SET sealed = key_sealed FROM credentials`); err != nil {
			t.Fatal(err)
		}
		if got := string(f.again(t).view(t).JSON); !strings.Contains(got, `"store":{"enabled":false`) {
			t.Errorf("served %s", got)
		}
	})
}

func TestPackages(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.mustPackage(t, 5, "  Gold ", true)
		wantError(t, f.IAP.AddPackage(ctx, operator, iap.Package{ID: 5, Name: "Other"}), "package_exists")
		wantFields(t, f.IAP.AddPackage(ctx, operator, iap.Package{ID: 0, Name: " ", Rank: -1}), "id", "name", "rank")
		wantFields(t, f.IAP.AddPackage(ctx, operator, iap.Package{ID: 1 << 31, Name: "a\x00b", Rank: 1_000_001}), "id", "name", "rank")
		wantError(t, f.IAP.UpdatePackage(ctx, operator, iap.Package{ID: 6, Name: "x"}), "package_not_found")
		wantError(t, f.IAP.RemovePackage(ctx, operator, 6), "package_not_found")
		if err := f.IAP.UpdatePackage(ctx, user, iap.Package{ID: 5, Name: "Platinum", Rank: 9, Paid: false}); err != nil {
			t.Fatal(err)
		}
		list, err := f.IAP.Packages(ctx, program)
		if err != nil || len(list) != 1 || list[0] != (iap.Package{ID: 5, Name: "Platinum", Rank: 9}) {
			t.Errorf("packages %+v, %v", list, err)
		}
		f.mustSet(t, map[string]string{iap.KeyProductMap: `{"store":{"gold":5}}`})
		err = f.IAP.RemovePackage(ctx, operator, 5)
		wantError(t, err, "package_in_use")
		if !strings.Contains(err.Error(), "The package 5 Platinum is in use: the draft maps gold to it. First remove them from the product map and publish") {
			t.Errorf("it is not said what maps to it: %v", err)
		}
		f.mustPublish(t, "")
		f.mustSet(t, map[string]string{iap.KeyProductMap: ``})
		uses, err := f.IAP.PackageUses(ctx, program)
		if err != nil || len(uses) != 1 || len(uses[5].Draft) != 0 || !slices.Equal(uses[5].Published, []string{"gold"}) || !uses[5].Blocks() {
			t.Errorf("uses %+v, %v", uses, err)
		}
		err = f.IAP.RemovePackage(ctx, operator, 5)
		wantError(t, err, "package_in_use")
		if !strings.Contains(err.Error(), "the published settings map gold to it. First publish the draft, which no longer maps them") {
			t.Errorf("it is not said what maps to it: %v", err)
		}
		f.mustPublish(t, "")
		wantError(t, f.IAP.RemovePackage(ctx, operator, 5), "")
		lines := strings.Join(f.audits(t), "\n")
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
