package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

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
				return l.end("No product. Add one with: countersign addon iap product add STORE_ID PACKAGE_ID")
			})
		},
	}
}
