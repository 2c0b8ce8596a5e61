package addon

import (
	"cmp"
	"slices"

	"github.com/countersign/countersign"
)

// iapConfig is the view of in-app purchases (spec 2.7).
func (a *Addon) iapConfig(v values, packages []Package, all accounts) countersign.IAPConfig {
	config := countersign.IAPConfig{
		Enabled: v.on(KeyIAPEnabled), SandboxEnabled: v.on(KeyIAPSandboxEnabled),
		Platforms: countersign.IAPPlatforms{Store: countersign.IAPPlatform{PackageName: v[KeyIAPStorePackageName].Value}},
		Products:  sold(v.products(), packages),
	}
	config.Platforms.Store.Enabled = config.Enabled && config.Platforms.Store.PackageName != "" &&
		len(config.Products) > 0 && a.usable(all, v[KeyIAPStoreServiceAccount].Value)
	return config
}

// usable tells whether a service account is there, opens with this key file and
// parses.
func (a *Addon) usable(all accounts, id string) bool {
	file, ok := openAccount(a.box.Load(), all[id])
	return ok && inspect(file).ok()
}

// sold groups the products by package: packages ascending by id, products
// ascending. Packages without a product are left out, and products of packages
// that do not exist.
func sold(products []Product, packages []Package) []countersign.IAPProduct {
	list := []countersign.IAPProduct{}
	for _, p := range slices.SortedFunc(slices.Values(packages), func(a, b Package) int { return cmp.Compare(a.ID, b.ID) }) {
		ids := []string{}
		for _, product := range products {
			if product.PackageID == p.ID {
				ids = append(ids, product.StoreID)
			}
		}
		if len(ids) > 0 {
			slices.Sort(ids)
			list = append(list, countersign.IAPProduct{Package: countersign.IAPPackage{ID: p.ID, Name: p.Name}, StoreProductIDs: ids})
		}
	}
	return list
}
