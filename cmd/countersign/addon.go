package main

import (
	"cmp"
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/spf13/cobra"
)

func newAddon(a *app) *cobra.Command {
	c := cli.Group(&cobra.Command{
		Use: "addon", Short: "The addon of a site: its update, its server, settings, packages and credentials",
		Long: `The addon runs on the server of a site. It feeds the mobile app its public settings and
the view of in-app purchases, and has admin pages for both.

  countersign addon update    set it up, once after every new version
  countersign addon serve     serve it`,
	},
		newAddonUpdate(a), newAddonServe(a), newAddonSetupLink(a), newAddonSettings(a),
		newAddonIAP(a), newAddonPackage(a), newAddonAPI(a), newAddonUser(a), newAddonAudit(a))
	addonLocation.register(c.PersistentFlags())
	return c
}

// onLink makes a command that prints a link into the addon's pages. The address of these is what --base-url or its
// variable says, or that of the server that runs, else where one would; it has no slash at its end.
func (a *app) onLink(c *cobra.Command, open opener[*addon.Addon], do func(ctx context.Context, s *addon.Addon, url string, args []string) error) *cobra.Command {
	c.Flags().String("base-url", "", "the `URL` under which the site's visitors reach the addon, for links (default that of the server that runs; "+envAddonURL+")")
	c.RunE = func(c *cobra.Command, args []string) error {
		given, err := a.Setting(c, "base-url", envAddonURL)
		if err != nil {
			return err
		}
		url, err := parseBaseURL(given)
		if err != nil {
			return cli.Usage(c, "--base-url: "+err.Error())
		}
		at, err := a.locate(c, addonLocation)
		if err != nil {
			return err
		}
		url = cmp.Or(url, sqldb.ServedAt(at.dir), "http://"+defaultAddonListen)
		return open(c, func(ctx context.Context, s *addon.Addon) error { return do(ctx, s, url, args) })
	}
	return c
}

func newAddonSetupLink(a *app) *cobra.Command {
	return a.onLink(&cobra.Command{
		Use: "setup-link", Short: "Print a new link by which the first administrator is made, good for a day and for one use", Args: cli.Args(),
		Long: `Print a new link by which the first administrator is made. It is good for 24 hours and for
one use, and ends earlier ones. The token is also in the file ` + addon.SetupFile + ` of the data
folder, which only its owner can read, until it was used or has expired.

The link leads to --base-url, else to the server that runs on the data folder.`,
	}, a.withNewAddon, func(ctx context.Context, s *addon.Addon, url string, _ []string) error {
		token, expires, err := s.NewSetupLink(ctx, operator())
		if err != nil {
			return err
		}
		if fault.HasCode(s.Prepare(ctx), fault.CodeUpdateNeeded) {
			a.Say("The addon has to be set up for this version first; run: countersign addon update")
		}
		return a.Show(struct {
			SetupURL  string                `json:"setup_url" card:"1,Link"`
			ExpiresAt countersign.Timestamp `json:"expires_at" card:"2,Good until"`
		}{setupLink(url, token), countersign.At(expires)}, nil)
	})
}

// setupLink is the address at which the first administrator is made. The token
// stands behind #, which browsers keep to themselves.
func setupLink(url, token string) string { return url + "/admincp/setup#" + token }
