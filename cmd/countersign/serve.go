package main

import (
	"github.com/spf13/cobra"
)

func newServe(a *app) *cobra.Command {
	var flags serveFlags
	c := &cobra.Command{
		Use: "serve", Short: "Answer over HTTP whether purchase codes are good", Args: none,
		Long: `Answer over HTTP whether purchase codes are good, until Ctrl-C or SIGTERM.

One server may run on a data folder; other commands work beside it, and what they change
is served within a second. Older tables are backed up and brought to this version.`,
		Example: `  countersign store serve
  countersign store serve --listen :8080 --base-url https://shop.example --trusted-proxy 10.0.0.0/8`,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.resolve(c, storeWhereabouts)
			if err != nil {
				return err
			}
			o, err := flags.check(a, c)
			if err != nil {
				return err
			}
			return a.serve(c, p, o)
		},
	}
	flags.register(c)
	return c
}

func (a *app) serve(c *cobra.Command, p place, o serveOptions) error {
	s, err := a.newServer(c.Context(), p, o)
	if err != nil {
		return err
	}
	defer s.close()
	if a.json {
		err = a.printJSON(struct {
			StoreURL   string `json:"store_url"`
			MetricsURL string `json:"metrics_url,omitempty"`
		}{s.url(), s.metricsURL()})
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
	return s.run(c.Context())
}
