package main

import (
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/spf13/cobra"
)

func newAddonIAP(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "iap", Short: "In-app purchases: show, set, service-account, product, test", SuggestionsMinimumDistance: 2,
		Long: `In-app purchases. What is set waits in the same draft as the app's settings, and is given
to the apps by: countersign addon settings publish -m NOTE`,
	}, newIAPShow(a), newIAPSet(a), newIAPServiceAccount(a), newIAPProduct(a), newIAPTest(a))
}

// iapKeys are the settings of in-app purchases that may stand in a command.
func iapKeys() []string {
	var keys []string
	for _, d := range settings.Definitions() {
		if d.Area == settings.AreaIAP && !d.Secret {
			keys = append(keys, d.Key)
		}
	}
	return keys
}
