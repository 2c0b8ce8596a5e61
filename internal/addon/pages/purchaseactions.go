package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
)

// storeSteps are what to do about errors of the app's store, by their codes.
var storeSteps = fault.NextSteps{
	"store_unavailable":    "try again in a few minutes",
	"store_not_authorised": "test the service account on the page In-app purchases",
	"not_configured":       "complete the page In-app purchases and publish it",
	"store_refused":        "read the purchase from the store and check its state",
	"invalid_token":        "check the Android application ID on the page In-app purchases",
	"purchase_gone":        "the store keeps a purchase for 60 days after its end",
	"other_store":          "the page In-app purchases has the switch",
	"not_renewing":         "read the purchase from the store and check its state",
	"conflict":             "try again",
	"no_claim":             "it was decided already; read the page of the purchase",
}

// storeOutages are the codes of errors that an action shows although they are not the caller's.
var storeOutages = []string{"store_unavailable", "store_not_authorised", "not_configured"}

// explainStore turns an error of the store into an error of the form.
func explainStore(refused error) (frame.Errors, bool) {
	if apiErr := fault.Of(refused); apiErr != nil && slices.Contains(storeOutages, apiErr.Code) {
		return frame.Errors{{Text: frame.Sentence(apiErr.Message)}}, true
	}
	return frame.FormErrors(refused)
}

// purchaseAction is something that staff does with a purchase.
type purchaseAction struct {
	// below is where it is below the page of the purchase.
	title, below, consequence, label string
	safe                             bool
	fields                           []frame.Field
	check                            func(url.Values) frame.Errors
	do                               func(context.Context, people.Actor, url.Values) (countersign.IAPPurchase, error)
	// done describes what happened, with the purchase as it is now.
	done func(url.Values, countersign.IAPPurchase) string
}

// act asks before staff does something with a purchase, and does it.
func (p *Pages) act(w http.ResponseWriter, r *frame.Request, d membership.PurchaseDetails, a purchaseAction) error {
	path := purchasePath(d.Purchase.ID, "")
	return p.frame.Ask(w, r, frame.Confirm{
		Title: a.title, Crumbs: purchaseCrumbs(d), Consequence: a.consequence, Path: path + a.below, Label: a.label, Cancel: path,
		Fields: a.fields, Safe: a.safe,
		Form: frame.Form{
			Check: a.check, NextSteps: storeSteps, Explain: explainStore,
			Do: func(in url.Values) error {
				now, err := a.do(r.Context(), r.Actor, in)
				if err != nil {
					return err
				}
				return p.frame.Redirect(w, r, path, a.done(in, now))
			},
		},
	})
}

// ofWhom names a purchase with its owner.
func ofWhom(d membership.PurchaseDetails) string {
	if d.User == "" {
		return "The purchase of " + d.Purchase.ProductID + ", which belongs to nobody,"
	}
	return "The purchase of " + d.Purchase.ProductID + " by " + d.User
}

// stateNow describes a purchase as it is now.
func stateNow(p countersign.IAPPurchase) string {
	text := "It is now: " + strings.ToLower(statusBadge(p.State).Text)
	if p.ExpiresAt != nil {
		text += ", paid until " + frame.Moment(p.ExpiresAt.Time)
	}
	return text + "."
}

// paidUntil is the end of the paid time in a sentence.
func paidUntil(d membership.PurchaseDetails) string {
	if d.Purchase.ExpiresAt == nil {
		return "the end of the paid time"
	}
	return frame.Moment(d.Purchase.ExpiresAt.Time)
}

func (p *Pages) refreshPurchase(w http.ResponseWriter, r *frame.Request, d membership.PurchaseDetails) error {
	return p.act(w, r, d, purchaseAction{
		title: "Read the purchase from the store", below: "/refresh", label: "Read from the store", safe: true,
		consequence: ofWhom(d) + " is read from the store again. If it changed there, the membership changes too, and the site gets an event.",
		do: func(ctx context.Context, a people.Actor, _ url.Values) (countersign.IAPPurchase, error) {
			return p.addon.Members.Refresh(ctx, a, d.Purchase.ID)
		},
		done: func(_ url.Values, now countersign.IAPPurchase) string {
			return "The purchase was read from the store. " + stateNow(now)
		},
	})
}

func (p *Pages) transferPurchase(w http.ResponseWriter, r *frame.Request, d membership.PurchaseDetails) error {
	return p.act(w, r, d, purchaseAction{
		title: "Transfer the purchase", below: "/transfer", label: "Transfer the purchase", safe: true,
		consequence: ofWhom(d) + " moves to another user for good, with the membership from it. The payment stays with the store account that bought it. Both users get an event.",
		fields: []frame.Field{
			{Name: "to", Label: "User ID of the new owner", Required: true, Help: "As your site has it."},
			{Name: "reason", Label: "Reason", Required: true, Help: "For the audit log and the timeline.", Example: "The user has a new account"},
		},
		check: func(in url.Values) frame.Errors {
			wrong := frame.Required("to", "Type the user ID.", "reason", "Type a reason.")(in)
			if d.User != "" && strings.TrimSpace(in.Get("to")) == d.User {
				wrong = append(wrong, frame.FieldError{Name: "to", Text: "This user has the purchase. Type another one."})
			}
			return wrong
		},
		do: func(ctx context.Context, a people.Actor, in url.Values) (countersign.IAPPurchase, error) {
			return p.addon.Members.Transfer(ctx, a, d.Purchase.ID, strings.TrimSpace(in.Get("to")), in.Get("reason"))
		},
		done: func(in url.Values, _ countersign.IAPPurchase) string {
			return "The purchase was transferred to " + strings.TrimSpace(in.Get("to")) + "."
		},
	})
}

// refusePurchase decides that a user who claims a purchase is not its owner.
func (p *Pages) refusePurchase(w http.ResponseWriter, r *frame.Request, d membership.PurchaseDetails) error {
	choices := make([]frame.Choice, len(d.Claimants))
	for i, user := range d.Claimants {
		choices[i] = frame.Choice{Value: user, Label: user}
	}
	return p.act(w, r, d, purchaseAction{
		title: "Refuse the purchase", below: "/refuse", label: "Refuse the purchase", safe: true,
		consequence: ofWhom(d) + " stays without an owner. The app tells the user that it belongs to another member. A transfer can still move it to the user.",
		fields: []frame.Field{
			{Name: "user_id", Label: "User ID", Kind: frame.Select, Choices: choices},
			{Name: "reason", Label: "Reason", Required: true, Help: "For the audit log.", Example: "Another user bought it in the old app"},
		},
		check: frame.Required("user_id", "Choose a user.", "reason", "Type a reason."),
		do: func(ctx context.Context, a people.Actor, in url.Values) (countersign.IAPPurchase, error) {
			return p.addon.Members.RefuseOwner(ctx, a, d.Purchase.ID, in.Get("user_id"), in.Get("reason"))
		},
		done: func(in url.Values, _ countersign.IAPPurchase) string {
			return "The purchase was refused to " + in.Get("user_id") + "."
		},
	})
}

func (p *Pages) cancelPurchase(w http.ResponseWriter, r *frame.Request, d membership.PurchaseDetails) error {
	const final = "final"
	return p.act(w, r, d, purchaseAction{
		title: "Cancel renewals", below: "/cancel", label: "Cancel renewals", safe: true,
		consequence: ofWhom(d) + " is not renewed again. The user keeps access until " + paidUntil(d) + ". Nothing is refunded.",
		fields: []frame.Field{{Name: "how", Label: "Can the user undo it?", Kind: frame.Select, Choices: []frame.Choice{
			{Value: "restorable", Label: "Yes, in the store until the paid time ends"}, {Value: final, Label: "No"},
		}}},
		do: func(ctx context.Context, a people.Actor, in url.Values) (countersign.IAPPurchase, error) {
			return p.addon.Members.Cancel(ctx, a, d.Purchase.ID, in.Get("how") == final)
		},
		done: func(_ url.Values, now countersign.IAPPurchase) string {
			return "The renewals were cancelled. " + stateNow(now)
		},
	})
}

func (p *Pages) deferPurchase(w http.ResponseWriter, r *frame.Request, d membership.PurchaseDetails) error {
	return p.act(w, r, d, purchaseAction{
		title: "Defer the renewal", below: "/defer", label: "Defer the renewal", safe: true,
		consequence: ofWhom(d) + " is renewed later than " + paidUntil(d) + ". The user has access until then and pays nothing for it. It can't be undone.",
		fields: []frame.Field{{
			Name: "days", Label: "Days", Kind: frame.Number, Value: "7", Required: true, Help: "By how many days the next renewal moves: 1 to 365.",
		}},
		check: func(in url.Values) frame.Errors {
			if n, err := strconv.Atoi(strings.TrimSpace(in.Get("days"))); err != nil || n < 1 || n > 365 {
				return frame.Errors{{Name: "days", Text: "Type a whole number from 1 to 365."}}
			}
			return nil
		},
		do: func(ctx context.Context, a people.Actor, in url.Values) (countersign.IAPPurchase, error) {
			days, _ := strconv.Atoi(strings.TrimSpace(in.Get("days"))) // it was checked
			return p.addon.Members.Defer(ctx, a, d.Purchase.ID, days)
		},
		done: func(_ url.Values, now countersign.IAPPurchase) string {
			return "The renewal was deferred. " + stateNow(now)
		},
	})
}

// The ways of a refund.
const (
	refundFull     = "full"
	refundProrated = "prorated"
	refundKeep     = "keep"
)

// refundChoices are the ways of a refund, and what the page says of it.
func refundChoices(d membership.PurchaseDetails) (choices []frame.Choice, consequence string) {
	if d.Purchase.OneTime {
		return []frame.Choice{
			{Value: refundFull, Label: "All of it, and access ends now"},
			{Value: refundKeep, Label: "All of it, and access continues"},
		}, ofWhom(d) + " is refunded by the store: order " + d.Purchase.OrderID + ". It can't be undone."
	}
	return []frame.Choice{
		{Value: refundFull, Label: "All of the period, and access ends now"},
		{Value: refundProrated, Label: "The rest of the period, and access ends now"},
		{Value: refundKeep, Label: "All of the period, and access continues"},
	}, ofWhom(d) + " is refunded by the store: its current period, order " + d.Purchase.OrderID + ". The renewal price is " + priceText(d.Purchase) + ". Earlier periods are not refunded. It can't be undone."
}

func (p *Pages) refundPurchase(w http.ResponseWriter, r *frame.Request, d membership.PurchaseDetails) error {
	choices, consequence := refundChoices(d)
	return p.act(w, r, d, purchaseAction{
		title: "Refund the purchase", below: "/refund", label: "Refund", consequence: consequence,
		fields: []frame.Field{{Name: "how", Label: "How much", Kind: frame.Select, Choices: choices}},
		check: func(in url.Values) frame.Errors {
			if !isChoice(choices, in.Get("how")) {
				return frame.Errors{{Name: "how", Text: "Choose one from the list."}}
			}
			return nil
		},
		do: func(ctx context.Context, a people.Actor, in url.Values) (countersign.IAPPurchase, error) {
			if in.Get("how") == refundKeep {
				return p.addon.Members.Refund(ctx, a, d.Purchase.ID, false)
			}
			return p.addon.Members.Revoke(ctx, a, d.Purchase.ID, in.Get("how") == refundProrated)
		},
		done: func(_ url.Values, now countersign.IAPPurchase) string {
			return "The store refunds the purchase. " + stateNow(now)
		},
	})
}
