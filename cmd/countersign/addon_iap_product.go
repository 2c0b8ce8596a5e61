package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/addon"
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

func jsonOfProduct(p addon.Product, packages []addon.Package) productJSON {
	return productJSON{p.StoreID, p.PackageID, packageName(p.PackageID, packages)}
}

func newProductList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the draft's products", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				i, err := readIAP(ctx, s)
				if err != nil {
					return err
				}
				l := a.newList("PRODUCT", "PACKAGE", "NAME")
				for _, p := range i.products {
					shown := jsonOfProduct(p, i.packages)
					if err := l.add(shown, p.StoreID, idText(p.PackageID), shown.PackageName); err != nil {
						return err
					}
				}
				return l.end("There is no product; add one with: countersign addon iap product add STORE_ID PACKAGE_ID")
			})
		},
	}
}

func newProductAdd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "add STORE_ID PACKAGE_ID", Short: "Let a store product give a package, in the draft", Args: two("product's id at the store", "package's id"),
		Example: `  countersign addon iap product add gold_monthly 1`,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "package", args[1])
			if err != nil {
				return err
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				now, err := s.AddProduct(ctx, operator(), 0, args[0], id)
				if err != nil {
					return err
				}
				return a.printSetting(now, addon.KeyIAPProductMap)
			})
		},
	}
}

func newProductRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove STORE_ID", Short: "Take a store product out of the draft's map", Args: one("product's id at the store"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				now, err := s.RemoveProduct(ctx, operator(), 0, args[0])
				if err != nil {
					return err
				}
				return a.printRemoved(args[0], fmt.Sprintf("The product %s is out of the draft's map.", args[0]), now)
			})
		},
	}
}
