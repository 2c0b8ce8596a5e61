package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// purchaseCreateFlags are what can be said of a new purchase.
type purchaseCreateFlags struct {
	workspace, code, currency string
	buyerName, buyerEmail     string
	item                      int64
	license                   choiceValue
	price                     moneyValue
	supportedUntil            dateValue
}

func newPurchaseCreate(a *app) *cobra.Command {
	choices := []string{countersign.LicenseRegular, countersign.LicenseExtended}
	flags := purchaseCreateFlags{license: choiceValue{value: countersign.LicenseRegular, choices: choices}}
	c := &cobra.Command{
		Use: "create --workspace W --item ID", Short: "Write a sale and print its code", Args: none,
		Example: "  countersign store purchase create --workspace ada --item 1229 --buyer-email grace@home.example",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "workspace", "item"); err != nil {
				return err
			}
			if c.Flags().Changed("currency") && !c.Flags().Changed("price") {
				return usage(c, "--currency needs --price; without both, the item's price counts")
			}
			var err error
			if flags.code, err = a.purchaseCode(c.Context(), flags.code); err != nil {
				return err
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				p, err := flags.purchase(ctx, s, c.Flags())
				if err != nil {
					return err
				}
				made, err := s.CreatePurchase(ctx, operator(), flags.workspace, p)
				if err != nil {
					return err
				}
				return a.printPurchase(made, flags.workspace)
			})
		},
	}
	flags.register(c.Flags())
	_ = c.RegisterFlagCompletionFunc("license", cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (f *purchaseCreateFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.workspace, "workspace", "", "the `username` of the item's workspace (required)")
	flags.Int64Var(&f.item, "item", 0, "`id` of the item that was sold (required)")
	flags.StringVar(&f.code, "code", "", "the purchase `code`, - for stdin (default a new UUID)")
	flags.Var(&f.license, "license", "Regular or Extended")
	flags.Var(&f.price, "price", "what was paid, like 49.00 (default the item's price for the license)")
	flags.Lookup("price").DefValue = ""
	flags.StringVar(&f.currency, "currency", "", "of --price, like USD (default the item's)")
	flags.Var(&f.supportedUntil, "supported-until", "end of support: 2006-01-02 (the start of that day, UTC) or 2006-01-02T15:04:05Z (default sold without support)")
	flags.StringVar(&f.buyerName, "buyer-name", "", "the buyer's `name`")
	flags.StringVar(&f.buyerEmail, "buyer-email", "", "the buyer's e-mail `address`")
}

// purchase is what the flags say. A price without a currency is in the item's.
func (f *purchaseCreateFlags) purchase(ctx context.Context, s *store.Store, flags *pflag.FlagSet) (store.Purchase, error) {
	p := store.Purchase{
		Code: f.code, ItemID: f.item, License: f.license.value, Price: f.price.Money, Currency: f.currency,
		SupportedUntil: f.supportedUntil.Timestamp, BuyerName: f.buyerName, BuyerEmail: f.buyerEmail,
	}
	if !flags.Changed("price") || f.currency != "" {
		return p, nil
	}
	item, err := s.ShowItem(ctx, operator(), f.item)
	p.Currency = item.Currency
	return p, err
}
