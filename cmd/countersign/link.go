package main

import (
	"cmp"
	"context"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/config"
	"github.com/spf13/cobra"
)

// onLink returns a command that prints a link into the pages of a service. The address of these is what --base-url or
// its variable says, or that of the server that runs, else where one would; it has no slash at its end.
func onLink[S any](a *app, of locationFlags, c *cobra.Command, open opener[S], do func(ctx context.Context, s S, url string, args []string) error) *cobra.Command {
	c.Flags().String("base-url", "", "the public `URL` of the pages, for links (default: the running server's; "+of.baseURL+")")
	c.RunE = func(c *cobra.Command, args []string) error {
		url, err := baseURL(c, "base-url")
		if err != nil {
			return err
		}
		return open(c, func(ctx context.Context, s S) error {
			return do(ctx, s, cmp.Or(url, a.served(), "http://"+of.address), args)
		})
	}
	return c
}

// baseURL is the public address of a service as a flag says, "" for none. It has no slash at its end.
func baseURL(c *cobra.Command, flag string) (string, error) {
	f := c.Flag(flag)
	base, err := parseBaseURL(f.Value.String())
	if err != nil {
		return "", cli.Usage(c, config.Label(f)+": "+err.Error())
	}
	return base, nil
}

// setupLink is the address at which the first administrator is made. The token
// stands behind #, which browsers keep to themselves.
func (l locationFlags) setupLink(url, token string) string { return url + l.signIn + "/setup#" + token }

// signInLink is the address at which a token signs somebody in.
func (l locationFlags) signInLink(url, token string) string { return url + l.signIn + "/link#" + token }

// newSetupLink returns the command that prints a set-up link, which create makes. tokenPlace says where the token is kept.
func newSetupLink[S any](a *app, of locationFlags, open opener[S], tokenPlace string, create func(context.Context, S) (token string, expires time.Time, err error)) *cobra.Command {
	return onLink(a, of, &cobra.Command{
		Use: "setup-link", Short: "Print a new link that creates the first administrator; it works once, within 24 hours", Args: cli.Args(),
		Long: `Print a new link that creates the first administrator. It works once, expires after 24 hours,
and replaces earlier links.` + tokenPlace + `

The link leads to --base-url, or to the server that runs on the data folder.`,
		Example: "  " + of.command + " setup-link",
	}, open, func(ctx context.Context, s S, url string, _ []string) error {
		token, expires, err := create(ctx, s)
		return a.Show(struct {
			SetupURL  string                `json:"setup_url" card:"1,Link"`
			ExpiresAt countersign.Timestamp `json:"expires_at" card:"2,Valid until"`
		}{of.setupLink(url, token), countersign.At(expires)}, err)
	})
}
