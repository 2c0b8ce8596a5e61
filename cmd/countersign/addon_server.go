package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/addon/pages"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/measure"
	"github.com/countersign/countersign/internal/usage"
	"github.com/countersign/countersign/internal/web"
	"github.com/spf13/cobra"
)

func newAddonServe(a *app) *cobra.Command {
	flags := serverFlags{cache: "0"}
	c := &cobra.Command{
		Use: "serve", Short: "Serve the app's settings and the admin pages", Args: cli.Args(),
		Long: `Serve the app's settings, the view of in-app purchases and the admin pages, until Ctrl-C or
SIGTERM. It may be started before the first update, and begins to answer after it.

Until the first administrator exists, it prints a link to create one. The link's token is also
in the file ` + setup.LinkFile + ` of the data folder. Or set ` + envAdminEmail + ` and
` + envAdminPassword + `_FILE to create the administrator without a link.

Configure the site's web server to pass on /api-addons/ and /admincp, and set --base-url.

The License page calls stores at public addresses only. For a store on this machine or in a
private network, allow the network with --allow-private.`,
		Example: `  countersign addon serve
  countersign addon serve --base-url https://site.example --trusted-proxy 127.0.0.1
  countersign addon serve --allow-private 127.0.0.0/8`,
		RunE: func(c *cobra.Command, _ []string) error {
			at, o, err := flags.located(a, c, addonLocation)
			if err != nil {
				return err
			}
			return a.serveAddon(c.Context(), at, o)
		},
	}
	flags.register(c, addonLocation)
	c.Flags().StringSliceVar(&flags.private, "allow-private", nil, "private `network` that the License page and webhooks may call (repeatable; default: public addresses only)")
	return c
}

func (a *app) serveAddon(ctx context.Context, at location, o serverOptions) error {
	s := addonServer{server: a.newServer(o)}
	defer s.close()
	if err := s.open(ctx, at); err != nil {
		return err
	}
	setup, err := s.greet(ctx)
	if err != nil {
		return err
	}
	if err := s.announce(at, servedView{AddonURL: s.url(), SetupURL: setup}); err != nil {
		return err
	}
	if at.playURL != "" {
		a.Note("Google Play is replaced by %s (%s).", cli.Safe(at.playURL), envPlayURL)
	}
	if s.updateNeeded {
		a.Say("The addon is not set up for this version yet; run: countersign addon update")
	}
	s.welcome.say(setup)
	return s.run(ctx)
}

type addonServer struct {
	server
	addon   *addon.Addon
	welcome welcome
	// updateNeeded reports that the update of this version has not run.
	updateNeeded bool
}

// open opens everything that can fail at the start.
func (s *addonServer) open(ctx context.Context, at location) (err error) {
	if err := outsideWeb(at.dir); err != nil {
		return err
	}
	if err := s.server.open(ctx, addonLocation, at); err != nil {
		return err
	}
	s.errorBody = web.DetailedBody
	s.addon, err = addon.Open(ctx, s.app.addonOptions(at, s.log, addon.Options{Options: instance.Options{Lock: s.lock}, AllowPrivate: s.options.allowPrivate}))
	if err != nil {
		return err
	}
	s.welcome = welcome{server: &s.server, of: addonLocation, newLink: s.addon.Setup.Link}
	s.service, s.instance = s.addon, s.addon.Instance
	err = s.prepare(ctx, at, s.addon.PrepareToServe, s.addon.PrepareToServe)
	if s.updateNeeded = fault.HasCode(err, fault.CodeUpdateNeeded); s.updateNeeded {
		return nil
	}
	return err
}

// greet returns the link that creates the first administrator. Before the update it works
// already, unless the environment names an administrator for after the update.
func (s *addonServer) greet(ctx context.Context) (link string, err error) {
	if !s.updateNeeded {
		return s.welcome.atOnce(ctx)
	}
	if email, _, err := s.app.environmentAdministrator(addonLocation); email != "" || err != nil {
		return "", err
	}
	s.welcome.done = true
	return s.welcome.link(ctx)
}

// run serves the JSON API, with the pages behind it, until ctx ends.
func (s *addonServer) run(ctx context.Context) error {
	framed, base, err := s.newFrame(pages.FrameOptions(s.addon), api.OpenAPI)
	if err != nil {
		return err
	}
	metrics := s.newMetrics()
	if metrics != nil {
		s.addMetrics(metrics)
	}
	site := api.New(s.addon, api.Options{
		BaseURL: s.options.baseURL, FailLimit: s.options.failLimit, TrustedProxies: s.options.proxies,
		Pages: pages.New(pages.Options{Addon: s.addon, Frame: framed}), Visitor: framed.Visitor,
		Log: s.log, Access: s.access, Now: s.app.Now, Metrics: metrics,
	})
	return s.serve(ctx, frame.StripBase(base, site), map[string]func(context.Context) error{"service": s.addon.Run, "first administrator": s.welcome.later})
}

// addMetrics adds what the addon alone has.
func (s *addonServer) addMetrics(m *web.Metrics) {
	addUses(m, map[string]func() usage.Figures{"api_credentials": s.addon.Credentials.Uses, "app_requests": s.addon.AppRequests})
	figures := readEvery(&s.server, measure.Often, s.addon.Measure)
	addWebhooks(m, figures)
	addMembers(m, figures)
}

func addWebhooks(m *web.Metrics, figures *measure.Value[addon.Figures]) {
	m.Add(web.Metric{
		Name: "countersign_webhooks", Help: "Webhooks by their state, without those that somebody paused.", Labels: []string{"state"},
		Read: func() []web.Sample {
			f, known := figures.Last()
			if !known {
				return nil
			}
			w := f.Webhooks
			return []web.Sample{{Value: float64(w.Active), Labels: []string{"active"}}, {Value: float64(w.Failing), Labels: []string{"failing"}}, {Value: float64(w.Paused), Labels: []string{"paused"}}}
		},
	})
	addGauge(m, figures, "countersign_webhook_failing_seconds", "For how long all deliveries of a webhook have failed; the longest of all webhooks.",
		func(f addon.Figures) float64 { return f.Webhooks.FailingFor.Seconds() })
}

func addMembers(m *web.Metrics, figures *measure.Value[addon.Figures]) {
	m.Add(web.Metric{
		Name: "countersign_alerts_open", Help: "Open alerts about purchases and the app store, by their kind.", Labels: []string{"kind"},
		Read: func() (all []web.Sample) {
			f, known := figures.Last()
			for _, a := range f.Members.Alerts {
				if known {
					all = append(all, web.Sample{Value: float64(a.Count), Labels: []string{a.Kind}})
				}
			}
			return all
		},
	})
	addGauge(m, figures, "countersign_purchases_unacknowledged", "Purchases that the app store has not confirmed as acknowledged.",
		func(f addon.Figures) float64 { return float64(f.Members.Unacknowledged) })
	addGauge(m, figures, "countersign_purchases_unacknowledged_seconds", "For how long the first of them has waited. Google refunds it after three days.",
		func(f addon.Figures) float64 { return f.Members.UnacknowledgedFor.Seconds() })
}
