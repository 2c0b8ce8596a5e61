package main

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/addon/pages"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/group"
	"github.com/spf13/cobra"
)

func newAddonServe(a *app) *cobra.Command {
	flags := serverFlags{cache: "0"}
	c := &cobra.Command{
		Use: "serve", Short: "Serve the app's settings and the admin pages", Args: cli.Args(),
		Long: `Serve the app's settings, the view of in-app purchases and the admin pages, until Ctrl-C or
SIGTERM. It may be started before the first update, and begins to answer after it.

Until the first administrator exists, it prints a link to create one. The link's token is also
in the file ` + addon.SetupFile + ` of the data folder. Or set ` + envAdminEmail + ` and
` + envAdminPassword + `_FILE to create the administrator without a link.

Configure the site's web server to pass on /api-addons/ and /admincp, and set --base-url.

The License page calls stores at public addresses only. For a store on this machine or in a
private network, allow the network with --allow-private.`,
		Example: `  countersign addon serve
  countersign addon serve --base-url https://site.example --trusted-proxy 127.0.0.1
  countersign addon serve --allow-private 127.0.0.0/8`,
		RunE: func(c *cobra.Command, _ []string) error {
			at, o, err := flags.check(a, c, addonLocation)
			if err != nil {
				return err
			}
			return a.serveAddon(c.Context(), at, o)
		},
	}
	flags.register(c, defaultAddonListen, addonLocation)
	c.Flags().StringSliceVar(&flags.private, "allow-private", nil, "private `network` that the License page may call (repeatable; default: public addresses only)")
	return c
}

func (a *app) serveAddon(ctx context.Context, at location, o serverOptions) error {
	s := addonServer{server: a.newServer(o)}
	defer s.close()
	if err := s.open(ctx, at); err != nil {
		return err
	}
	setup, err := s.welcome(ctx)
	if err != nil {
		return err
	}
	err = s.announce(at, struct {
		AddonURL string `json:"addon_url"`
		// SetupURL is where the first administrator is created, "" when one exists.
		SetupURL   string `json:"setup_url,omitempty"`
		MetricsURL string `json:"metrics_url,omitempty"`
	}{urlOf(s.listener), setup, s.metricsURL()})
	if err != nil {
		return err
	}
	if s.updateNeeded {
		a.Say("The addon is not set up for this version yet; run: countersign addon update")
	}
	if setup != "" {
		a.Say("Create the first administrator at %s", setup)
	}
	return s.run(ctx)
}

type addonServer struct {
	server
	addon *addon.Addon
	// updateNeeded reports that the update of this version has not run.
	updateNeeded bool
}

// open opens everything that can fail at the start.
func (s *addonServer) open(ctx context.Context, at location) (err error) {
	if err := outsideWeb(at.dir); err != nil {
		return err
	}
	if err := s.app.checkAddon(ctx, at); err != nil {
		return err
	}
	if err := s.listen(at.dir); err != nil {
		return err
	}
	s.addon, err = addon.Open(ctx, s.app.addonOptions(at, s.log, addon.Options{Lock: s.lock, AllowPrivate: s.options.allowPrivate}))
	if err != nil {
		return err
	}
	err = s.prepare(ctx, at, s.addon, s.addon.PrepareToServe)
	if s.updateNeeded = fault.HasCode(err, fault.CodeUpdateNeeded); s.updateNeeded {
		return nil
	}
	return err
}

// welcome creates the first administrator from the environment, or the link by which
// somebody becomes that. The link is empty when there is an administrator, or when
// the environment names one for after the update.
func (s *addonServer) welcome(ctx context.Context) (link string, err error) {
	switch {
	case s.addon.State() == addon.StateReady:
		if _, err := s.app.firstAdministrator(ctx, s.addon); err != nil {
			return "", err
		}
	case !s.updateNeeded:
		return "", nil // the database is down
	default:
		if email, _, err := s.app.environmentAdministrator(); email != "" || err != nil {
			return "", err
		}
	}
	token, _, err := s.addon.NewSetupLink(ctx, operator())
	if fault.HasCode(err, "already_set_up") {
		return "", nil
	}
	return setupLink(s.address(), token), err
}

// run serves the JSON API, with the pages behind it, until ctx ends.
func (s *addonServer) run(ctx context.Context) error {
	framed, base, err := s.newFrame(pages.FrameOptions(s.addon), api.OpenAPI)
	if err != nil {
		return err
	}
	site := api.New(s.addon, api.Options{
		BaseURL: s.options.baseURL, FailLimit: s.options.failLimit, TrustedProxies: s.options.proxies,
		Pages: pages.New(pages.Options{Addon: s.addon, Frame: framed}), Visitor: framed.Visitor,
		Log: s.log, Access: s.access, Now: s.app.Now, Metrics: s.newMetrics(),
	})
	return s.serve(ctx, frame.StripBase(base, site), map[string]func(context.Context) error{"first administrator": s.makeAdministrator})
}

// makeAdministrator creates the administrator that the environment names as soon as
// the addon is set up, and lasts until ctx ends.
func (s *addonServer) makeAdministrator(ctx context.Context) error {
	for done := s.app.Getenv(envAdminEmail) == ""; !done; {
		if !group.Sleep(ctx, 500*time.Millisecond, nil) {
			return nil
		}
		if s.addon.State() != addon.StateReady {
			continue
		}
		_, err := s.app.firstAdministrator(ctx, s.addon)
		done = !fault.IsUnavailable(err)
		if err != nil && done && ctx.Err() == nil {
			s.log.Error("the administrator of "+envAdminEmail+" was not created", "cause", err)
		}
	}
	<-ctx.Done()
	return nil
}
