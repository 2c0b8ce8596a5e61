package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/cli"
)

func newAddonCustomer(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "customer", Short: "Users of the site with a membership or a purchase: merge, erase",
		Long: `Users of the site with a membership or a purchase. A user is named by the id that the site has for it.`,
	}, newCustomerMerge(a), newCustomerErase(a))
}

func newCustomerMerge(a *app) *cobra.Command {
	return on(a.withAddon, &cobra.Command{
		Use: "merge FROM TO", Short: "Move the purchases and grants of a user to another one", Args: cli.Args("user's id", "other user's id"),
		Long: `Move the purchases and grants of a user to another one, for a site that merged two accounts. Both
get an event. It can be repeated, and is not undone: a merge back moves everything of both.`,
		Example: "  countersign addon customer merge 7 8",
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		from, to := args[0], args[1]
		if err := a.Confirm(ctx, fmt.Sprintf("Everything that the user %s has becomes %s's. Continue?", cli.Safe(from), cli.Safe(to))); err != nil {
			return err
		}
		m, err := s.Members.Merge(ctx, operator(), from, to)
		if err != nil {
			return err
		}
		done := countersign.IAPMerge{FromUserID: from, ToUserID: to, Purchases: m.Purchases, Grants: m.Grants, Membership: m.Membership}
		return a.Done(done, "Moved %s and %s to %s, whose membership is now: %s.", cli.Count(int(m.Purchases), "purchase", "purchases"), cli.Count(int(m.Grants), "grant", "grants"), cli.Safe(to), m.Membership.Status)
	})
}

func newCustomerErase(a *app) *cobra.Command {
	var force bool
	c := on(a.withAddon, &cobra.Command{
		Use: "erase USER", Short: "Erase a user; purchases stay for the books, without the user", Args: cli.Args("user's id"),
		Long: `Erase a user: the membership, grants, account ids and events are deleted. Purchases stay for the
books, without the user and without their tokens. It can't be undone.

A user with a subscription that the store still renews is not erased (exit code 6), unless --force
is set: the store would go on charging, and nobody could cancel it here.`,
		Example: "  countersign addon customer erase 7",
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		user := args[0]
		if err := a.Confirm(ctx, fmt.Sprintf("The user %s is erased for good. Continue?", cli.Safe(user))); err != nil {
			return err
		}
		e, err := s.Members.Erase(ctx, operator(), user, force)
		if err != nil {
			return err
		}
		done := countersign.IAPErasure{UserID: user, Purchases: e.Purchases, Grants: e.Grants}
		return a.Done(done, "Erased the user %s: %s without a user now, %s deleted.", cli.Safe(user), cli.Count(int(e.Purchases), "purchase", "purchases"), cli.Count(int(e.Grants), "grant", "grants"))
	})
	c.Flags().BoolVar(&force, "force", false, "erase the user although the store still renews a subscription")
	return c
}
