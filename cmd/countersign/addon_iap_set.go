package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/spf13/cobra"
)

func newIAPSet(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting of the in-app purchases in the draft", Args: two("key", "value"),
		Example: `  countersign addon iap set iapEnabled 1
  countersign addon iap set iapStorePackageName com.yourname.app
  countersign addon iap set iapProductMapJson '{"store":{"gold_monthly":1}}'`,
		RunE: func(c *cobra.Command, args []string) error {
			if keys := iapKeys(); args[0] != iap.KeyServiceAccount && !slices.Contains(keys, args[0]) {
				return usage(c, fmt.Sprintf("unknown in-app purchase setting %q: use %s", safe(args[0]), strings.Join(keys, ", ")))
			}
			return a.setSetting(c, args[0], args[1])
		},
	}
}
