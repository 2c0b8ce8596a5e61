package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
	"github.com/spf13/cobra"
)

func newAddonSetupLink(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "setup-link", Short: "Print a new link by which the first administrator is made, good for a day and for one use", Args: none,
		Long: `Print a new link by which the first administrator is made. It is good for 24 hours and for
one use, and ends earlier ones. The token is also in the file ` + addon.SetupFile + ` of the data
folder, which only its owner can read, until it was used or has expired.

The link leads to --base-url, else to the server that runs on the data folder.`,
		RunE: func(c *cobra.Command, _ []string) error {
			url, err := a.addonURL(c)
			if err != nil {
				return err
			}
			return a.withNewAddon(c, func(ctx context.Context, s *addon.Addon) error {
				token, expires, err := s.NewSetupLink(ctx, operator())
				if err != nil {
					return err
				}
				if fault.HasCode(s.Prepare(ctx), fault.CodeUpdateNeeded) {
					a.say("The addon has to be set up for this version first; run: countersign addon update")
				}
				return a.printSetupLink(setupLink(url, token), countersign.At(expires))
			})
		},
	}
	registerAddonURL(c)
	return c
}

// registerAddonURL adds --base-url.
func registerAddonURL(c *cobra.Command) {
	c.Flags().String("base-url", "", "the `URL` under which the site's visitors reach the addon, for links (default that of the server that runs; "+envAddonURL+")")
}

func (a *app) printSetupLink(link string, expires countersign.Timestamp) error {
	return a.printCard(struct {
		SetupURL  string                `json:"setup_url"`
		ExpiresAt countersign.Timestamp `json:"expires_at"`
	}{link, expires}, pair{"Link", link}, pair{"Good until", second(expires)})
}
