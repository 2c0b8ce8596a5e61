package main

import (
	"context"
	"strconv"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

// purchaseListFlags narrow a list of purchases.
type purchaseListFlags struct {
	workspace string
	item      int64
	state     choiceValue
	limit     int
}

func newPurchaseList(a *app) *cobra.Command {
	flags := purchaseListFlags{state: choiceValue{choices: []string{
		string(store.StateActive), string(store.StateRefunded), string(store.StateChargedBack), string(store.StateRevoked),
	}}}
	c := &cobra.Command{
		Use: "list --workspace W", Short: "List purchases, newest first", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "workspace"); err != nil {
				return err
			}
			if flags.limit < 0 || flags.item < 0 {
				return usage(c, "--limit and --item can't be negative")
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				return a.listPurchases(ctx, s, flags)
			})
		},
	}
	fs := c.Flags()
	fs.StringVar(&flags.workspace, "workspace", "", "the `username` whose purchases to list (required)")
	fs.Int64Var(&flags.item, "item", 0, "only purchases of the item with this `id`")
	fs.Var(&flags.state, "state", "only purchases that are active, refunded, charged_back or revoked")
	fs.IntVar(&flags.limit, "limit", 50, "how many at most; 0 for all")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(flags.state.choices, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) listPurchases(ctx context.Context, s *store.Store, flags purchaseListFlags) error {
	filter := store.PurchaseFilter{Item: flags.item, State: store.State(flags.state.value), Limit: flags.limit}
	l := a.newList("CODE", "ITEM", "LICENSE", "PRICE", "SOLD", "SUPPORTED UNTIL", "STATE", "BUYER")
	err := s.Purchases(ctx, operator(), flags.workspace, filter, func(p store.Purchase) error {
		buyer := p.BuyerName
		if buyer == "" {
			buyer = p.BuyerEmail
		}
		return l.add(jsonOfPurchase(p, flags.workspace), p.Code, strconv.FormatInt(p.ItemID, 10), p.License,
			money(p.Price, p.Currency), day(p.SoldAt), day(p.SupportedUntil), string(p.State), buyer)
	})
	if err != nil {
		return err
	}
	if err := l.end("No such purchase."); err != nil {
		return err
	}
	if l.rows > 0 && l.rows == flags.limit {
		a.say("These are the newest %d; there may be more: --limit 0 lists all.", l.rows)
	}
	return nil
}
