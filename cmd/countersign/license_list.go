package main

import (
	"context"
	"strconv"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/spf13/cobra"
)

// licenseListFlags narrow a list of licenses.
type licenseListFlags struct {
	workspace, code string
	item, purchase  int64
	limit           int
}

func newLicenseList(a *app) *cobra.Command {
	var flags licenseListFlags
	c := &cobra.Command{
		Use: "list", Short: "List licenses, newest first", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			if flags.limit < 0 || flags.item < 0 || flags.purchase < 0 {
				return usage(c, "--limit, --item and --id can't be negative")
			}
			if flags.code != "" && flags.purchase != 0 {
				return usage(c, "give --code or --id, not both")
			}
			var err error
			if flags.code, err = a.purchaseCode(c.Context(), flags.code); err != nil {
				return err
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error { return a.listLicenses(ctx, s, flags) })
		},
	}
	fs := c.Flags()
	fs.StringVar(&flags.workspace, "workspace", "", "only licenses of the workspace with this `username`")
	fs.Int64Var(&flags.item, "item", 0, "only licenses of the item with this `id`")
	fs.StringVar(&flags.code, "code", "", "only licenses of the purchase with this `code`, - for stdin")
	fs.Int64Var(&flags.purchase, "id", 0, "only licenses of the purchase with this `id`")
	fs.IntVar(&flags.limit, "limit", 50, "how many at most; 0 for all")
	return c
}

func (a *app) listLicenses(ctx context.Context, s *store.Store, flags licenseListFlags) error {
	filter := licensing.Filter{Workspace: flags.workspace, Item: flags.item, Code: flags.code, Purchase: flags.purchase, Limit: flags.limit}
	l := a.newList("ID", "DOMAIN", "STATE", "CODE", "ITEM", "LICENSE", "ISSUED", "ENDED")
	err := s.Licensing.List(ctx, operator(), filter, func(one licensing.License) error {
		return l.add(jsonOfLicense(one), one.License.ID, licenseDomain(one), licenseWords(one), one.Code,
			strconv.FormatInt(one.ItemID, 10), one.Purchase.License, day(one.IssuedAt), day(one.EndedAt))
	})
	if err != nil {
		return err
	}
	if err := l.end("No such license."); err != nil {
		return err
	}
	if l.rows > 0 && l.rows == flags.limit {
		a.say("These are the newest %d; there may be more: --limit 0 lists all.", l.rows)
	}
	return nil
}
