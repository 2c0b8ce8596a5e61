package main

import (
	"cmp"
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/pages"
	"github.com/spf13/cobra"
)

func newPurchaseDownloadLink(a *app) *cobra.Command {
	valid, base := media.DefaultLinkTime, ""
	c := a.onPurchase(&cobra.Command{
		Use: "download-link CODE", Short: "Print a link by which the buyer downloads the file of the item",
		Long: `Print a link by which the buyer downloads the file of the item. Who has the link can download.
The purchase then counts as downloaded. A refund, a chargeback or a revocation ends the link.

The link leads to --base-url, or to the server that runs on the data folder.`,
		Example: "  countersign store purchase download-link --id 17 --valid 30d",
		PreRunE: func(c *cobra.Command, _ []string) (err error) {
			if c.Flags().Changed("valid") {
				if valid, err = cli.ParseAge(c.Flag("valid").Value.String()); err != nil {
					return err
				}
			}
			base, err = baseURL(c, "base-url")
			return err
		},
	}, func(ctx context.Context, s *store.Store, code string) error {
		found, err := s.Validation.Show(ctx, operator(), code)
		if err != nil {
			return err
		}
		token, l, err := s.Media.CreateLink(ctx, operator(), found.Purchase.ID, valid)
		return a.Show(struct {
			DownloadURL string                `json:"download_url" card:"1,Link"`
			ExpiresAt   countersign.Timestamp `json:"expires_at" card:"2,Valid until"`
		}{cmp.Or(base, a.served(), "http://"+storeLocation.address) + pages.PathDownload + token, l.ExpiresAt}, err)
	})
	c.Flags().String("valid", "7d", "for how `long` the link is valid, like 24h or 30d, at most 90d")
	c.Flags().String("base-url", "", "the public `URL` of the pages, for links (default: the running server's; "+storeLocation.baseURL+")")
	return c
}
