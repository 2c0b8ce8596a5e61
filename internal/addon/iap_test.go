package addon

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProductMaps(t *testing.T) {
	cases := []struct {
		name, text string
		want       []Product
		wrong      string // part of the sentence
	}{
		{"no text", "", nil, ""},
		{"no platform", "{}", []Product{}, ""},
		{"no product", `{"store":{}}`, []Product{}, ""},
		{"products come by id", ` { "store" : {"gold_monthly":2,"a.b_1":1} } `, []Product{{"a.b_1", 1}, {"gold_monthly", 2}}, ""},
		{"two products of one package", `{"store":{"a":1,"b":1}}`, []Product{{"a", 1}, {"b", 1}}, ""},
		{"not JSON", `{"store":{`, nil, "not valid JSON"},
		{"a list", `[]`, nil, "not a JSON object"},
		{"a text", `"x"`, nil, "not a JSON object"},
		{"null", `null`, nil, "not a JSON object"},
		{"something behind it", `{"store":{}} {}`, nil, "Something follows"},
		{"another platform", `{"play":{}}`, nil, `"play" is not known`},
		{"the platform in capitals", `{"Store":{}}`, nil, `"Store" is not known`},
		{"a platform twice", `{"store":{},"store":{}}`, nil, "stands there twice"},
		{"a list of products", `{"store":["a"]}`, nil, "must be a JSON object"},
		{"null for the products", `{"store":null}`, nil, "must be a JSON object"},
		{"a product twice", `{"store":{"a":1,"a":2}}`, nil, "a stands there twice"},
		{"a product twice in other letters of JSON", `{"store":{"a":1,"\u0061":2}}`, nil, "a stands there twice"},
		{"capitals", `{"store":{"Gold":1}}`, nil, "capital letters"},
		{"an empty product id", `{"store":{"":1}}`, nil, "missing"},
		{"a product id with a dash", `{"store":{"a-b":1}}`, nil, "no product id"},
		{"a product id with a space", `{"store":{"a b":1}}`, nil, "no product id"},
		{"a product id that begins with a dot", `{"store":{".a":1}}`, nil, "no product id"},
		{"a product id that is too long", `{"store":{"` + strings.Repeat("a", 149) + `":1}}`, nil, "no product id"},
		{"a package id in quotes", `{"store":{"a":"1"}}`, nil, "positive whole number"},
		{"a package id of 0", `{"store":{"a":0}}`, nil, "positive whole number"},
		{"a negative package id", `{"store":{"a":-1}}`, nil, "positive whole number"},
		{"a broken package id", `{"store":{"a":1.5}}`, nil, "positive whole number"},
		{"a package id as 1e0", `{"store":{"a":1e0}}`, nil, "positive whole number"},
		{"a package id that is too large", `{"store":{"a":9223372036854775808}}`, nil, "positive whole number"},
		{"a package id of null", `{"store":{"a":null}}`, nil, "positive whole number"},
		{"an object for a package id", `{"store":{"a":{}}}`, nil, "positive whole number"},
		{"no UTF-8", "{\"store\":{\"a\xff\":1}}", nil, "not valid JSON"},
		{"too large", `{"store":{}}` + strings.Repeat(" ", 128<<10), nil, "larger"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseProducts(c.text)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("%v, %v; want an error about %q", got, err, c.wrong)
				}
				return
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestProductsNeedTheirPackage(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.mustPackage(t, 1, "Gold", true)
		_, err := f.SetSettings(ctx, operator, 0, map[string]string{KeyIAPProductMap: `{"store":{"gold":1,"silver":2}}`})
		wantFields(t, err, KeyIAPProductMap)
		_, err = f.AddProduct(ctx, operator, 0, "silver", 2)
		wantFields(t, err, "package")
		_, err = f.AddProduct(ctx, operator, 0, "Gold", 1)
		wantFields(t, err, "product")
		for range 2 { // again is no change
			if _, err := f.AddProduct(ctx, operator, 0, "gold", 1); err != nil {
				t.Fatal(err)
			}
		}
		f.mustPackage(t, 2, "Silver", true)
		_, err = f.AddProduct(ctx, operator, 0, "gold", 2)
		wantError(t, err, "product_exists")
		if list, err := f.Products(ctx, operator); err != nil || !slices.Equal(list, []Product{{"gold", 1}}) {
			t.Errorf("products %v, %v", list, err)
		}
		if got := f.value(t, KeyIAPProductMap); got != `{"store":{"gold":1}}` {
			t.Errorf("map %s", got)
		}
		_, err = f.RemoveProduct(ctx, operator, 0, "silver")
		wantError(t, err, "product_not_found")
		if _, err := f.RemoveProduct(ctx, operator, 0, "gold"); err != nil {
			t.Fatal(err)
		}
		if got := f.value(t, KeyIAPProductMap); got != `{"store":{}}` {
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
			KeyIAPEnabled: "1", KeyIAPSandboxEnabled: "1", KeyIAPStorePackageName: "com.example.app",
			KeyIAPProductMap: `{"store":{"z_gold":20,"silver":3,"a_gold":20}}`,
		})
		if _, err := f.SetServiceAccount(t.Context(), operator, 0, accountFile(nil)); err != nil {
			t.Fatal(err)
		}
		f.mustPublish(t, "")
		want := `{"enabled":true,"sandbox_enabled":true,"platforms":{"store":{"enabled":true,"package_name":"com.example.app"}},"products":[` +
			`{"package":{"package_id":3,"name":"Silver"},"store_product_ids":["silver"]},` +
			`{"package":{"package_id":20,"name":"Gold & \"more\""},"store_product_ids":["a_gold","z_gold"]}]}`
		if diff := cmp.Diff(want, string(f.served(t).IAP.JSON)); diff != "" {
			t.Error(diff)
		}
		// A new name takes effect at once.
		if err := f.UpdatePackage(t.Context(), operator, Package{ID: 3, Name: "Argent", Rank: 3, Paid: true}); err != nil {
			t.Fatal(err)
		}
		if got := string(f.served(t).IAP.JSON); !strings.Contains(got, `"name":"Argent"`) {
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
			if err := f.RemoveServiceAccount(ctx, operator, 0); err != nil {
				t.Fatal(err)
			}
			set := map[string]string{KeyIAPEnabled: "0", KeyIAPStorePackageName: "", KeyIAPProductMap: ""}
			if has(0) {
				set[KeyIAPEnabled] = "1"
			}
			if has(1) {
				set[KeyIAPStorePackageName] = "com.example.app"
			}
			if has(2) {
				set[KeyIAPProductMap] = `{"store":{"gold":1}}`
			}
			if has(3) {
				set[KeyIAPStoreServiceAccount] = string(accountFile(nil))
			}
			f.mustSet(t, set)
			f.mustPublish(t, "")
			config := string(f.served(t).IAP.JSON)
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
			KeyIAPEnabled: "1", KeyIAPStorePackageName: "com.example.app", KeyIAPProductMap: `{"store":{"gold":1}}`,
			KeyIAPStoreServiceAccount: string(accountFile(nil)),
		})
		f.mustPublish(t, "")
		if _, err := f.db.Exec(t.Context(), `UPDATE service_accounts SET sealed = key_sealed FROM credentials`); err != nil {
			t.Fatal(err)
		}
		if got := string(f.again(t).served(t).IAP.JSON); !strings.Contains(got, `"store":{"enabled":false`) {
			t.Errorf("served %s", got)
		}
	})
}

func TestPackages(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.mustPackage(t, 5, "  Gold ", true)
		wantError(t, f.AddPackage(ctx, operator, Package{ID: 5, Name: "Other"}), "package_exists")
		wantFields(t, f.AddPackage(ctx, operator, Package{ID: 0, Name: " ", Rank: -1}), "id", "name", "rank")
		wantFields(t, f.AddPackage(ctx, operator, Package{ID: 1 << 31, Name: "a\x00b", Rank: 1_000_001}), "id", "name", "rank")
		wantError(t, f.UpdatePackage(ctx, operator, Package{ID: 6, Name: "x"}), "package_not_found")
		wantError(t, f.RemovePackage(ctx, operator, 6), "package_not_found")
		if err := f.UpdatePackage(ctx, user, Package{ID: 5, Name: "Platinum", Rank: 9, Paid: false}); err != nil {
			t.Fatal(err)
		}
		list, err := f.Packages(ctx, program)
		if err != nil || len(list) != 1 || list[0] != (Package{ID: 5, Name: "Platinum", Rank: 9}) {
			t.Errorf("packages %+v, %v", list, err)
		}
		f.mustSet(t, map[string]string{KeyIAPProductMap: `{"store":{"gold":5}}`})
		err = f.RemovePackage(ctx, operator, 5)
		wantError(t, err, "package_in_use")
		if !strings.Contains(err.Error(), "The draft maps gold to the package 5 Platinum") {
			t.Errorf("it is not said what maps to it: %v", err)
		}
		f.mustPublish(t, "")
		f.mustSet(t, map[string]string{KeyIAPProductMap: ``})
		wantError(t, f.RemovePackage(ctx, operator, 5), "package_in_use") // it is still published
		f.mustPublish(t, "")
		wantError(t, f.RemovePackage(ctx, operator, 5), "")
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
