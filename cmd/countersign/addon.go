package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

// defaultAddonURL is where an addon is reached when nobody says otherwise.
const defaultAddonURL = "http://" + defaultAddonListen

func newAddon(a *app) *cobra.Command {
	c := newGroup(&cobra.Command{
		Use: "addon", Short: "The addon of a site: its update, its server, settings, packages and credentials", SuggestionsMinimumDistance: 2,
		Long: `The addon runs on the server of a site. It feeds the mobile app its public settings and
the view of in-app purchases, and has admin pages for both.

  countersign addon update    set it up, once after every new version
  countersign addon serve     serve it`,
	},
		newAddonUpdate(a), newAddonServe(a), newAddonSetupLink(a), newAddonSettings(a),
		newAddonIAP(a), newAddonPackage(a), newAddonAPI(a), newAddonUser(a), newAddonAudit(a))
	flags := c.PersistentFlags() // these take the place of the store's
	flags.String("data", addon.DefaultDir, "data `folder` of the addon ("+envAddonData+")")
	flags.String("db", "", "`URL` of a PostgreSQL database in place of SQLite ("+envAddonDB+", or "+envAddonDB+"_FILE, which keeps a password off the process list)")
	return c
}

// withAddon opens the addon, prepares it, runs do and closes it again.
func (a *app) withAddon(c *cobra.Command, do func(context.Context, *addon.Addon) error) error {
	return a.withNewAddon(c, func(ctx context.Context, s *addon.Addon) error {
		if err := s.Prepare(ctx); err != nil {
			return err
		}
		return do(ctx, s)
	})
}

// withNewAddon is withAddon for commands that work before the first update.
func (a *app) withNewAddon(c *cobra.Command, do func(context.Context, *addon.Addon) error) (err error) {
	p, err := a.resolve(c, addonWhereabouts)
	if err != nil {
		return err
	}
	s, err := addon.Open(c.Context(), a.addonOptions(p, a.errorLog()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(c.Context(), s)
}

func (a *app) addonOptions(p place, log *slog.Logger) addon.Options {
	return addon.Options{Dir: p.dir, URL: p.url, KeyText: p.keyText, Version: readBuildInfo().Version, Log: log, Now: a.now}
}

// addonURL is the address of the addon for links, without a trailing slash: what
// --base-url says, or its variable, or fallback.
func (a *app) addonURL(c *cobra.Command, fallback string) (string, error) {
	text := a.setting(c, "base-url", envAddonURL)
	if text == "" {
		return fallback, nil
	}
	url, err := parseBaseURL(text)
	if err != nil {
		return "", usage(c, "--base-url: "+err.Error())
	}
	return url, nil
}

// setupLink is the address at which the first administrator is made. The token
// stands behind #, which browsers keep to themselves.
func setupLink(url, token string) string { return url + "/admincp/setup#" + token }
