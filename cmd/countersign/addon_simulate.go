package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/cli"
)

// simulatedActs are the acts, with what their commands say.
var simulatedActs = map[simulator.Act]string{
	simulator.Renew:      "Renew a subscription now",
	simulator.Decline:    "Decline the card of a subscription from its next payment on",
	simulator.Recover:    "Accept the card again, and pay what is due",
	simulator.Pause:      "Pause a subscription for 30 days, from its next renewal date on",
	simulator.Resume:     "End a pause",
	simulator.Cancel:     "Cancel the renewals of a subscription",
	simulator.UndoCancel: "Undo a cancellation",
	simulator.Refund:     "Refund the last payment, and end the access",
	simulator.Expire:     "Let a purchase expire: no renewal, and the clock moves to its end",
	simulator.Wait:       "Move the clock to what happens next to a subscription by itself",
}

func newIAPSimulate(a *app) *cobra.Command {
	commands := []*cobra.Command{newSimulateBuy(a), newSimulateList(a)}
	var names []string
	for _, act := range simulator.Acts() {
		commands = append(commands, newSimulateAct(a, act))
		names = append(names, commands[len(commands)-1].Name())
	}
	return cli.Group(&cobra.Command{
		Use: "simulate", Short: "The simulated store of test mode: buy, list, " + strings.Join(names, ", ") + ", clear",
		Long: `The simulated store that answers in test mode, without Google. Each command shows what the app
reads afterwards, and the events that the site receives. REF is the reference of a purchase in
the list.`,
	}, append(commands, newSimulateClear(a))...)
}

// simulatedView is a purchase in the simulated store.
type simulatedView struct {
	Ref          string                 `json:"ref" row:"1,REF" card:"1,Reference"`
	PurchaseID   string                 `json:"purchase_id" card:"2,Purchase,optional"`
	UserID       string                 `json:"user_id" row:"2,USER,text" card:"3,User"`
	ProductID    string                 `json:"product_id" row:"3,PRODUCT" card:"4,Product"`
	BasePlanID   string                 `json:"base_plan_id"`
	State        string                 `json:"state" row:"4,STATE" card:"5,State in the store"`
	Acknowledged bool                   `json:"acknowledged"`
	Declined     bool                   `json:"declined"`
	Superseded   bool                   `json:"superseded"`
	ExpiresAt    *countersign.Timestamp `json:"expires_at" row:"5,EXPIRES (UTC),minute" card:"6,Expires,optional"`
	NextAt       *countersign.Timestamp `json:"next_at" row:"6,NEXT (UTC),minute" card:"7,Next,optional"`
	NextState    *string                `json:"next_state" card:"8,State then,optional"`
	Acts         []string               `json:"acts"`
	Possible     string                 `json:"-" row:"7,POSSIBLE,text" card:"9,Possible,optional"`
}

func viewSimulated(p simulator.Purchase) simulatedView {
	v := simulatedView{
		Ref: p.Ref, PurchaseID: p.ID, UserID: p.User, ProductID: p.Product, BasePlanID: p.Plan, State: p.State, Acknowledged: p.Acknowledged,
		Declined: p.Declined, Superseded: p.Superseded, ExpiresAt: cli.OrNull(countersign.At(p.ExpiresAt)),
		NextAt: cli.OrNull(countersign.At(p.Next)), Acts: []string{},
	}
	if p.NextState != "" {
		v.NextState = &p.NextState
	}
	for _, act := range p.Acts {
		v.Acts = append(v.Acts, actName(act))
	}
	v.Possible = strings.Join(v.Acts, ", ")
	return v
}

// actName is an act as a command names it.
func actName(act simulator.Act) string { return strings.ReplaceAll(string(act), "_", "-") }

// stepView is what became of a purchase or an act.
type stepView struct {
	Ref      string            `json:"ref"`
	Purchase simulatedView     `json:"purchase"`
	Call     string            `json:"call"`
	Status   int               `json:"status"`
	Answer   json.RawMessage   `json:"answer"`
	Events   []json.RawMessage `json:"events"`
	Lines    []cli.Line        `json:"-" card:"1,"`
}

// showStep prints a step: the purchase, the app's answer, and the events.
func (a *app) showStep(step simulator.Step, err error) error {
	if err != nil {
		return err
	}
	p := viewSimulated(step.Purchase)
	v := stepView{Ref: p.Ref, Purchase: p, Call: step.Call, Status: step.Status, Answer: step.Answer, Events: []json.RawMessage{}}
	v.Lines = cli.Lines("Reference", p.Ref, "User", p.UserID, "Product", p.ProductID, "Base plan", p.BasePlanID, "State in the store", p.State)
	if p.NextState != nil {
		v.Lines = append(v.Lines, cli.Lines("Next", fmt.Sprintf("%s, then %s", step.Purchase.Next.UTC().Format(time.RFC3339), *p.NextState))...)
	}
	v.Lines = append(v.Lines, cli.Lines("The app calls", step.Call, "and reads", fmt.Sprintf("%d %s", step.Status, step.Answer))...)
	for _, e := range step.Events {
		v.Events = append(v.Events, e.Body)
	}
	v.Lines = append(v.Lines, cli.Lines("Events for the site", joinTypes(eventTypes(step.Events)))...)
	if p.Possible != "" {
		v.Lines = append(v.Lines, cli.Lines("Possible now", p.Possible)...)
	}
	return a.Show(v, nil)
}

func eventTypes(list []events.Item) (types []events.Type) {
	for _, e := range list {
		types = append(types, e.Type)
	}
	return types
}

func newSimulateBuy(a *app) *cobra.Command {
	order := simulator.Order{Plan: simulator.Monthly}
	c := on(a.withAddon, &cobra.Command{
		Use: "buy", Short: "Buy a mapped product for a user, and verify the purchase as the app does", Args: cli.Args(),
		Example: `  countersign addon iap simulate buy --user 7 --product gold_monthly
  countersign addon iap simulate buy --user 7 --product gold_monthly --plan prepaid
  countersign addon iap simulate buy --user 7 --product gold_monthly --replaces 0f1e2d3c4b5a`,
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		return a.showStep(s.Simulator.Buy(ctx, operator(), order))
	})
	c.Flags().StringVar(&order.User, "user", "", "the site's `id` of the user (required)")
	c.Flags().StringVar(&order.Product, "product", "", "the `id` of the product at the store (required)")
	cli.ChoiceVar(c, &order.Plan, "plan", "", "base plan: monthly, yearly, or prepaid, which does not renew", simulator.Plans()...)
	c.Flags().StringVar(&order.Replaces, "replaces", "", "the `reference` of the user's purchase that it replaces")
	_ = c.RegisterFlagCompletionFunc("product", a.fromAddon(productIDs))
	_ = c.RegisterFlagCompletionFunc("replaces", a.fromAddon(simulatedRefs))
	c.PreRunE = cli.Require("user", "product")
	return c
}

func allSimulated(ctx context.Context, s *addon.Addon) ([]simulator.Purchase, error) {
	list, _, err := s.Simulator.Purchases(ctx, operator())
	return list, err
}

func newSimulateList(a *app) *cobra.Command {
	return a.Listing(on(a.withAddon, &cobra.Command{
		Use: "list", Short: "List the purchases in the simulated store, newest first", Args: cli.Args(),
		Long: `List the purchases in the simulated store, newest first. Times are those of its clock, which
acts move ahead of the server's.`,
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		list, now, err := s.Simulator.Purchases(ctx, operator())
		err = cli.PrintList(a.Console, list, viewSimulated, "No purchases. Buy with: countersign addon iap simulate buy --user ID --product ID", err)
		if err == nil && len(list) > 0 {
			a.Note("The store's clock shows %s.", now.UTC().Format(time.RFC3339))
		}
		return err
	}))
}

func newSimulateAct(a *app, act simulator.Act) *cobra.Command {
	return on(a.withAddon, &cobra.Command{
		Use: actName(act) + " REF", Short: simulatedActs[act], Args: cli.Args("purchase's reference"), ValidArgsFunction: first(a.fromAddon(simulatedRefs)),
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		return a.showStep(s.Simulator.Do(ctx, operator(), args[0], act))
	})
}

func newSimulateClear(a *app) *cobra.Command {
	return on(a.withAddon, &cobra.Command{
		Use: "clear", Short: "Delete all simulated purchases, and derive the memberships without them", Args: cli.Args(),
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		if err := a.Confirm(ctx, "All simulated purchases are deleted, and their memberships end. Continue?"); err != nil {
			return err
		}
		if err := s.Simulator.Clear(ctx, operator()); err != nil {
			return err
		}
		return a.Done(struct {
			Cleared bool `json:"cleared"`
		}{true}, "Deleted all simulated purchases.")
	})
}
