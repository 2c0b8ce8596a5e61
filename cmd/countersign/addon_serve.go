package main

import (
	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newAddonServe(a *app) *cobra.Command {
	var flags serverFlags
	var private []string
	c := &cobra.Command{
		Use: "serve", Short: "Serve the app's settings and the admin pages", Args: none,
		Long: `Serve the app's settings, the view of in-app purchases and the admin pages, until Ctrl-C or
SIGTERM. It can be started before the first update, and serves from the moment that has run.

Until the first administrator exists, a link to create one is printed; it is also in the file
` + addon.SetupFile + ` of the data folder. Or set ` + envAdminEmail + ` and
` + envAdminPassword + `_FILE, and the administrator is made from them.

Behind the web server of a site, pass on /api-addons/ and /admincp, and give --base-url.

The License page calls the store whose address an administrator types, if that is a public
address. For a store on this machine or in a private network, name it with --allow-private.`,
		Example: `  countersign addon serve
  countersign addon serve --base-url https://site.example --trusted-proxy 127.0.0.1
  countersign addon serve --allow-private 127.0.0.0/8`,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.resolve(c, addonWhereabouts)
			if err != nil {
				return err
			}
			var wrong wrongFlags
			o := flags.check(a, c, addonVariables, &wrong)
			o.allowPrivate, err = parsePrivateNetworks(private)
			wrong.note("--allow-private", err)
			if err := wrong.err(c); err != nil {
				return err
			}
			return a.serveAddon(c, p, o)
		},
	}
	flags.register(c, defaultAddonListen, addonVariables)
	c.Flags().IntVar(&flags.failLimit, "fail-limit", defaultFailLimit, "failed authentications of an address a minute; 0 for no limit")
	c.Flags().StringSliceVar(&private, "allow-private", nil, "private `network` that the addon may call, for a store in it (repeatable; default public addresses alone)")
	return c
}

// addonServeJSON says where an addon is served.
type addonServeJSON struct {
	AddonURL string `json:"addon_url"`
	// SetupURL is where the first administrator is made, while there is none.
	SetupURL   string `json:"setup_url,omitempty"`
	MetricsURL string `json:"metrics_url,omitempty"`
}

func (a *app) serveAddon(c *cobra.Command, p place, o serverOptions) error {
	s, err := a.newAddonServer(c.Context(), p, o, "--listen")
	if err != nil {
		return err
	}
	defer s.close()
	setup, err := s.welcome(c.Context())
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(addonServeJSON{s.url(), setup, s.metricsURL()})
	}
	if err != nil {
		return err
	}
	engine := "SQLite"
	if p.url != "" {
		engine = "PostgreSQL"
	}
	a.say("Serving %s (data folder %s, %s). Stop with Ctrl-C.", s.url(), safe(p.dir), engine)
	if s.metrics != nil {
		a.say("Metrics at %s.", s.metricsURL())
	}
	if s.updateNeeded {
		a.say("The addon is not set up for this version yet; run: countersign addon update")
	}
	if setup != "" {
		a.say("Make the first administrator at %s", setup)
	}
	return s.run(c.Context())
}
