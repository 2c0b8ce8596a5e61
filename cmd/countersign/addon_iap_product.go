package main

import (
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/spf13/cobra"
)

func newIAPProduct(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "product", Short: "Which store product gives which package: list, add, remove", SuggestionsMinimumDistance: 2,
	}, newProductList(a), newProductAdd(a), newProductRemove(a))
}

// productJSON is a line of the product map as --json prints it.
type productJSON struct {
	StoreProductID string `json:"store_product_id"`
	PackageID      int64  `json:"package_id"`
	PackageName    string `json:"package_name"`
}

func jsonOfProduct(p iap.Product, packages []iap.Package) productJSON {
	return productJSON{p.StoreID, p.PackageID, packageName(p.PackageID, packages)}
}
