package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/spf13/cobra"
)

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

// withAddon opens the addon, prepares it, runs do and closes it again. Where there
// is none, nothing is made.
func (a *app) withAddon(c *cobra.Command, do func(context.Context, *addon.Addon) error) error {
	p, err := a.resolve(c, addonWhereabouts)
	if err != nil {
		return err
	}
	return a.lookAtAddon(c, func(ctx context.Context, s *addon.Addon) error {
		err := s.Prepare(ctx)
		if s.State() == addon.StateNew {
			return notInstalled(p)
		}
		if err != nil {
			return err
		}
		defer s.AuditChain().SealNow(ctx)
		return a.warnBehind(s.Behind(), do(ctx, s))
	})
}

// notInstalled says that there is no addon in a place.
func notInstalled(p place) error {
	where, how := p.dir, " --data "+p.dir
	if p.url != "" {
		where, how = "this database", ", with the same --db and --data"
	}
	return fail(exitNotFound, "not_installed", fmt.Sprintf("no addon in %s; if this is the right place, set it up with: countersign addon update%s", where, how))
}

// lookAtAddon is withAddon for commands that also work before the first update.
func (a *app) lookAtAddon(c *cobra.Command, do func(context.Context, *addon.Addon) error) error {
	return a.openAddon(c, true, do)
}

// withNewAddon is lookAtAddon for commands that make the data folder.
func (a *app) withNewAddon(c *cobra.Command, do func(context.Context, *addon.Addon) error) error {
	return a.openAddon(c, false, do)
}

func (a *app) openAddon(c *cobra.Command, look bool, do func(context.Context, *addon.Addon) error) (err error) {
	p, err := a.resolve(c, addonWhereabouts)
	if err != nil {
		return err
	}
	o := a.addonOptions(p, a.errorLog())
	o.Look = look
	s, err := addon.Open(c.Context(), o)
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
// --base-url says, or its variable, or the server that runs, else where one would.
func (a *app) addonURL(c *cobra.Command) (string, error) {
	given, err := a.setting(c, "base-url", envAddonURL)
	if err != nil {
		return "", err
	}
	url, err := parseBaseURL(given)
	if err != nil {
		return "", usage(c, "--base-url: "+err.Error())
	}
	if url == "" {
		url, err = a.runningAddon(c)
	}
	if url == "" {
		url = "http://" + defaultAddonListen
	}
	return url, err
}

// runningAddon is where the server on the data folder is reached, empty when none
// runs.
func (a *app) runningAddon(c *cobra.Command) (string, error) {
	p, err := a.resolve(c, addonWhereabouts)
	return sqldb.ServedAt(p.dir), err
}

// setupLink is the address at which the first administrator is made. The token
// stands behind #, which browsers keep to themselves.
func setupLink(url, token string) string { return url + "/admincp/setup#" + token }
