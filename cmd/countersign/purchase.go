package main

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/spf13/cobra"
)

func newPurchase(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "purchase", Short: "Purchases: list, show, check, create, set, refund, charge-back, revoke, restore, download-link",
	}, newPurchaseList(a),
		a.onPurchase(&cobra.Command{Use: "show CODE", Short: "Show a purchase"}, func(ctx context.Context, s *store.Store, code string) error {
			found, err := s.Validation.Show(ctx, operator(), code)
			return a.Show(viewPurchase(found.Purchase, found.Workspace), err)
		}),
		a.onPurchase(&cobra.Command{Use: "check CODE", Short: "Check whether a purchase code is valid; if not, print the reason (exit code 4)"}, a.checkPurchase),
		newPurchaseCreate(a), newPurchaseSet(a), newPurchaseDownloadLink(a),
		a.onPurchase(&cobra.Command{Use: "refund CODE", Short: "Mark a purchase as refunded: its code is no longer valid"}, a.changePurchase(endAs(store.StateRefunded))),
		a.onPurchase(&cobra.Command{Use: "charge-back CODE", Short: "Mark a purchase as charged back: its code is no longer valid"}, a.changePurchase(endAs(store.StateChargedBack))),
		a.onPurchase(&cobra.Command{Use: "revoke CODE", Short: "Revoke a purchase: its code is no longer valid"}, a.changePurchase(endAs(store.StateRevoked))),
		a.onPurchase(&cobra.Command{
			Use: "restore CODE", Short: "Undo a refund: the code and its licenses are valid again",
			Long: `Undo a refund, a chargeback or a revocation of a purchase. Its code is valid again at once.
Its licenses leave the list of revoked licenses; an app that has fetched the list sees
that when it fetches the next one, within seven days. Licenses that were moved, or revoked by
themselves, stay ended.`,
			Example: "  countersign store purchase restore 7c0f3b1e-5d2a-4c44-9b1e-000000000001\n" +
				"  countersign store purchase restore --id 17",
		}, a.changePurchase((*store.Store).RestorePurchase)))
}

// endAs ends a purchase with a state.
func endAs(state store.State) func(*store.Store, context.Context, people.Actor, string) (store.Purchase, error) {
	return func(s *store.Store, ctx context.Context, actor people.Actor, code string) (store.Purchase, error) {
		return s.EndPurchase(ctx, actor, code, state)
	}
}

// purchaseView is a purchase, with what the API keeps to itself.
type purchaseView struct {
	ID             int64                  `json:"id" card:"2,Id"`
	PurchaseCode   string                 `json:"purchase_code" row:"1,CODE" card:"1,Code"`
	Workspace      string                 `json:"workspace" card:"4,Workspace"`
	ItemID         int64                  `json:"item_id" row:"2,ITEM" card:"5,Item"`
	LicenseType    string                 `json:"license_type" row:"3,LICENSE" card:"6,License"`
	Price          countersign.Money      `json:"price"`
	Currency       string                 `json:"currency"`
	SupportedUntil *countersign.Timestamp `json:"supported_until" row:"6,SUPPORTED UNTIL" card:"9,Supported until"`
	Downloaded     bool                   `json:"downloaded" card:"10,Downloaded"`
	Date           countersign.Timestamp  `json:"date" row:"5,SOLD" card:"8,Sold"`
	State          store.State            `json:"state" row:"7,STATE"`
	StateAt        *countersign.Timestamp `json:"state_at"`
	Buyer          buyerView              `json:"buyer"`
	Paid           string                 `json:"-" row:"4,PRICE" card:"7,Price"`
	Since          string                 `json:"-" card:"3,State"`
	BuyerName      string                 `json:"-" card:"11,Buyer"`
	BuyerEmail     string                 `json:"-" card:"12,E-mail"`
	NameOrEmail    string                 `json:"-" row:"8,BUYER,text"`
}

type buyerView struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

func viewPurchase(p store.Purchase, workspace string) purchaseView {
	v := purchaseView{
		ID: p.ID, PurchaseCode: p.Code, Workspace: workspace, ItemID: p.ItemID, LicenseType: p.License, Price: p.Price, Currency: p.Currency,
		SupportedUntil: cli.OrNull(p.SupportedUntil), Downloaded: p.Downloaded, Date: p.SoldAt, State: p.State, StateAt: cli.OrNull(p.StateAt),
		Buyer: buyerView{p.BuyerName, p.BuyerEmail}, BuyerName: p.BuyerName, BuyerEmail: p.BuyerEmail, NameOrEmail: cmp.Or(p.BuyerName, p.BuyerEmail),
		Paid: p.Price.In(p.Currency), Since: string(p.State),
	}
	if !p.StateAt.IsZero() {
		v.Since += " since " + cli.Second(p.StateAt)
	}
	return v
}

// codeHelp is part of the help of every command that takes a purchase code.
const codeHelp = `With -, CODE is read from stdin and stays out of the process list and the shell's history.
--id names the purchase by its id instead.`

// onPurchase returns a command about one purchase, which a code or --id names.
func (a *app) onPurchase(c *cobra.Command, do func(ctx context.Context, s *store.Store, code string) error) *cobra.Command {
	var id int64
	c.Flags().Int64Var(&id, "id", 0, "`id` of the purchase, in place of its code")
	_ = c.RegisterFlagCompletionFunc("id", a.fromStore(purchaseIDs))
	c.Long = cmp.Or(c.Long, c.Short+".") + "\n\n" + codeHelp
	c.Args = func(c *cobra.Command, args []string) error {
		switch {
		case !c.Flags().Changed("id"):
			return cli.Args("purchase code")(c, args)
		case len(args) > 0:
			return cli.Usage(c, "use a purchase code or --id, not both")
		case id <= 0:
			return cli.Usage(c, "--id is a whole number from 1 on")
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		code := ""
		if id == 0 {
			code, err = a.purchaseCode(c.Context(), args[0])
		}
		if err != nil {
			return err
		}
		return a.withStore(c, func(ctx context.Context, s *store.Store) (err error) {
			if id != 0 {
				code, err = s.Validation.Code(ctx, operator(), id)
			}
			if err != nil {
				return err
			}
			return do(ctx, s, code)
		})
	}
	return c
}

// purchaseCode returns the purchase code of an argument or a flag. For "-" it is the
// one line of stdin, and a person at the terminal is asked for it.
func (a *app) purchaseCode(ctx context.Context, text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	input, err := a.AskPurchaseCode(ctx)
	code := strings.TrimSpace(input)
	if err == nil && (code == "" || strings.ContainsAny(code, "\r\n")) {
		err = cli.Fail(cli.ExitUsage, "usage", "wrong input on stdin: expected one line with the purchase code")
	}
	return code, err
}

func newPurchaseList(a *app) *cobra.Command {
	var workspace string
	var filter store.PurchaseFilter
	c := on(a.withStore, &cobra.Command{
		Use: "list --workspace W", Short: "List purchases, newest first", Args: cli.Args(),
		PreRunE: func(c *cobra.Command, args []string) error {
			if filter.Limit < 0 || filter.Item < 0 {
				return cli.Usage(c, "--limit and --item can't be negative")
			}
			return cli.Require("workspace")(c, args)
		},
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		return listNewest(a, filter.Limit, "No such purchase.", func(limit int, add func(purchaseView) error) error {
			filter.Limit = limit
			return s.Purchases(ctx, operator(), workspace, filter, func(p store.Purchase) error { return add(viewPurchase(p, workspace)) })
		})
	})
	a.workspaceFlag(c, &workspace, "the `username` whose purchases to list (required)")
	a.itemFlag(c, &filter.Item, "only purchases of the item with this `id`")
	cli.ChoiceVar(c, &filter.State, "state", "", "only purchases that are active, refunded, charged_back or revoked",
		store.StateActive, store.StateRefunded, store.StateChargedBack, store.StateRevoked)
	limitFlags(c, &filter.Limit)
	return a.Listing(c)
}

// changePurchase returns what a command does that changes a purchase and prints it.
func (a *app) changePurchase(change func(*store.Store, context.Context, people.Actor, string) (store.Purchase, error)) func(context.Context, *store.Store, string) error {
	return func(ctx context.Context, s *store.Store, code string) error {
		found, err := s.Validation.Show(ctx, operator(), code)
		if err != nil {
			return err
		}
		p, err := change(s, ctx, operator(), code)
		return a.Show(viewPurchase(p, found.Workspace), err)
	}
}

func newPurchaseSet(a *app) *cobra.Command {
	var edits cli.Edits[store.PurchaseTerms]
	c := a.onPurchase(&cobra.Command{
		Use: "set CODE", Short: "Change the support, the license type or the download of a purchase",
		PreRunE: cli.Refuse(func() bool { return len(edits) == 0 }, "nothing to set; use --supported-until, --license or --downloaded"),
		Long: `Change the support, the license type or the download of a purchase. What no flag names stays
as it is. The API prints the end of support when the item has support, too.

Another license type changes how many domains may be licensed from now on. Licenses that were
issued stay; their files name the new type when they are fetched again.`,
		Example: `  countersign store purchase set --id 17 --supported-until 2027-06-30
  countersign store purchase set --id 17 --supported-until none --license Extended --downloaded=false`,
	}, a.changePurchase(func(s *store.Store, ctx context.Context, actor people.Actor, code string) (store.Purchase, error) {
		return s.SetPurchase(ctx, actor, code, "", edits.Apply)
	}))
	cli.EditVar(c.Flags(), &edits, "supported-until", "end of support: 2006-01-02 (the start of that day, UTC), 2006-01-02T15:04:05Z, or none",
		func(t *store.PurchaseTerms) *countersign.Timestamp { return &t.SupportedUntil }, cli.ParseDate, "date")
	cli.EditChoice(c, &edits, "license", "Regular or Extended", func(t *store.PurchaseTerms) *string { return &t.License },
		countersign.LicenseRegular, countersign.LicenseExtended)
	cli.EditSwitch(c.Flags(), &edits, "downloaded", "the buyer has downloaded the item", func(t *store.PurchaseTerms) *bool { return &t.Downloaded })
	return c
}

func newPurchaseCreate(a *app) *cobra.Command {
	var workspace string
	p := store.Purchase{License: countersign.LicenseRegular}
	var c *cobra.Command
	c = on(a.withStore, &cobra.Command{
		Use: "create --workspace W --item ID", Short: "Record a purchase and print its code", Args: cli.Args(),
		Example: "  countersign store purchase create --workspace ada --item 1229 --buyer-email grace@home.example",
		PreRunE: func(c *cobra.Command, args []string) (err error) {
			if err := cli.Require("workspace", "item")(c, args); err != nil {
				return err
			}
			if c.Flags().Changed("currency") && !c.Flags().Changed("price") {
				return cli.Usage(c, "--currency needs --price; without both, the item's price counts")
			}
			p.Code, err = a.purchaseCode(c.Context(), p.Code)
			return err
		},
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		if c.Flags().Changed("price") && p.Currency == "" { // that of the item
			item, err := s.ShowItem(ctx, operator(), p.ItemID)
			if err != nil {
				return err
			}
			p.Currency = item.Currency
		}
		made, err := s.CreatePurchase(ctx, operator(), workspace, p)
		return a.Show(viewPurchase(made, workspace), err)
	})
	flags := c.Flags()
	a.workspaceFlag(c, &workspace, "the `username` of the item's workspace (required)")
	a.itemFlag(c, &p.ItemID, "`id` of the item that was sold (required)")
	flags.StringVar(&p.Code, "code", "", "the purchase `code`, - for stdin (default a new UUID)")
	cli.ChoiceVar(c, &p.License, "license", "", "Regular or Extended", countersign.LicenseRegular, countersign.LicenseExtended)
	cli.Var(flags, &p.Price, cli.ParseMoney, "amount", "price", "what was paid, like 49.00 (default the item's price for the license)")
	flags.StringVar(&p.Currency, "currency", "", "of --price, like USD (default the item's)")
	cli.Var(flags, &p.SupportedUntil, cli.ParseDate, "date", "supported-until", "end of support: 2006-01-02 (the start of that day, UTC) or 2006-01-02T15:04:05Z (default sold without support)")
	flags.StringVar(&p.BuyerName, "buyer-name", "", "the buyer's `name`")
	flags.StringVar(&p.BuyerEmail, "buyer-email", "", "the buyer's e-mail `address`")
	return c
}

func (a *app) checkPurchase(ctx context.Context, s *store.Store, code string) error {
	found, err := s.Validation.Check(ctx, operator(), code)
	if err != nil {
		return err
	}
	base, err := a.Variable(envURL)
	if err != nil {
		return err
	}
	answer, err := apiAnswer(ctx, s, found, cmp.Or(base, "http://"+defaultListen))
	if err != nil {
		return err
	}
	if err := a.printCheck(found, answer); err != nil || found.Valid {
		return err
	}
	return cli.Fail(cli.ExitNo, found.Code, "")
}

type checkView struct {
	Valid     bool            `json:"valid"`
	Code      string          `json:"code"` // as in X-Error-Code, "" when valid
	Reason    string          `json:"reason"`
	APIAnswer json.RawMessage `json:"api_answer"`
	Purchase  *purchaseView   `json:"purchase"`
	Item      *checkItemView  `json:"item"`
}

type checkItemView struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func (a *app) printCheck(found validation.Check, answer []byte) error {
	if a.JSON {
		out := checkView{Valid: found.Valid, Code: found.Code, Reason: found.Reason, APIAnswer: answer}
		if found.Purchase.Code != "" {
			p := viewPurchase(found.Purchase, found.Workspace)
			out.Purchase, out.Item = &p, &checkItemView{found.Item.ID, found.Item.Name}
		}
		return a.PrintJSON(out)
	}
	verdict := a.Colour(a.Out, cli.Green, "Valid.")
	if !found.Valid {
		verdict = a.Colour(a.Out, cli.Red, "Not valid: ") + cli.Safe(found.Reason) + "."
	}
	a.Print("%s\n  API answer   %s\n", verdict, cli.SafeJSON(answer))
	if found.Purchase.Code != "" {
		a.Print("  item         %s (#%d)   workspace %s   license %s\n",
			cli.Safe(found.Item.Name), found.Item.ID, cli.Safe(found.Workspace), cli.Safe(found.Purchase.License))
	}
	return nil
}

// apiAnswer is what the API of a store at the URL base answers a secret key of the
// purchase's workspace, by the same rule.
func apiAnswer(ctx context.Context, s *store.Store, found validation.Check, base string) ([]byte, error) {
	key := people.Actor{Kind: people.KindKey, FrontEnd: people.FrontEndCommand, Workspace: found.Purchase.WorkspaceID, Secret: true}
	valid, err := s.Validation.Validate(ctx, key, found.Purchase.Code)
	if refused := fault.Of(err); refused != nil && refused.Kind == countersign.KindNotFound {
		return countersign.EncodeJSON(struct {
			Status string `json:"status"`
			Msg    string `json:"msg"`
		}{"error", refused.Message})
	}
	if err != nil {
		return nil, err
	}
	return []byte(`{"status":"success","data":{"purchase":` + valid.Before + valid.Item.With(base) + valid.After + "}}"), nil
}
