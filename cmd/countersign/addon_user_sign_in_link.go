package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newUserSignInLink(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "sign-in-link EMAIL", Short: "Print a link that signs an administrator in once, within ten minutes", Args: one("e-mail"),
		Long: `Print a link that signs an administrator in. It works once, within ten minutes, without
password and code, and also after too many failed sign-ins. Open it in the browser of that
person, and give it to nobody else.

The link leads to --base-url, else to the server that runs on the data folder.`,
		Example: "  countersign addon user sign-in-link ada@site.example",
		RunE: func(c *cobra.Command, args []string) error {
			url, err := a.addonURL(c)
			if err != nil {
				return err
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				token, expires, err := s.People().NewSignInLink(ctx, operator(), args[0])
				if err != nil {
					return err
				}
				link, until := signInLink(url, token), countersign.At(expires)
				return a.printCard(struct {
					SignInURL string                `json:"sign_in_url"`
					ExpiresAt countersign.Timestamp `json:"expires_at"`
				}{link, until}, pair{"Link", link}, pair{"Good until", second(until)})
			})
		},
	}
	registerAddonURL(c)
	return c
}
