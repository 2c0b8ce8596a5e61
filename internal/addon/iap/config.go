package iap

import (
	"cmp"
	"slices"

	"github.com/countersign/countersign"
)

// config is the view of in-app purchases (spec 2.7).
func (s *Service) config(v Values, packages []Package, all Accounts) countersign.IAPConfig {
	config := countersign.IAPConfig{
		Enabled: v.Enabled, SandboxEnabled: v.Sandbox,
		Platforms: countersign.IAPPlatforms{Store: countersign.IAPPlatform{PackageName: v.PackageName}},
		Products:  sold(v.Products, packages),
	}
	config.Platforms.Store.Enabled = config.Enabled && v.PackageName != "" && len(config.Products) > 0 && s.usable(all, v.Account)
	return config
}

// usable reports whether a service account exists, opens with this key file and parses.
func (s *Service) usable(all Accounts, id string) bool {
	file, ok := openAccount(s.guard.Box(), all[id])
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
