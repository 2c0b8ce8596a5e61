package pages

import (
	"net/url"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/frame"
)

const (
	pathCustomers = "/api-addons/admin/customers"
	pathPurchases = "/api-addons/admin/purchases"
)

func customerPath(user, below string) string {
	return pathCustomers + "/" + url.PathEscape(user) + below
}

func purchasePath(id, below string) string { return pathPurchases + "/" + url.PathEscape(id) + below }

var customersCrumb = frame.Link{Label: "Customers", Path: pathCustomers}

// customerCrumbs lead to a page about a customer, and customerCrumb is the last of them.
func customerCrumbs(user string) []frame.Link {
	return crumbs(customersCrumb, customerCrumb(user))
}

func customerCrumb(user string) frame.Link {
	return frame.Link{Label: user, Path: customerPath(user, "")}
}

// statusWords are the statuses of purchases and memberships as people read them.
var statusWords = map[string]frame.Badge{
	"none":       {Text: "No membership"},
	"pending":    {Text: "Payment pending", Kind: frame.Note},
	"active":     {Text: "Active", Kind: frame.Good},
	"grace":      {Text: "Grace period", Kind: frame.Warning},
	"on_hold":    {Text: "On hold", Kind: frame.Warning},
	"paused":     {Text: "Paused", Kind: frame.Note},
	"expired":    {Text: "Expired"},
	"revoked":    {Text: "Revoked", Kind: frame.Danger},
	"failed":     {Text: "Payment failed"},
	"superseded": {Text: "Replaced"},
}

func statusBadge(status string) frame.Badge {
	if known, ok := statusWords[status]; ok {
		return known
	}
	return frame.Badge{Text: status}
}

// statusChoices are what the list can be narrowed to.
func statusChoices() []frame.Choice {
	all := []frame.Choice{{Label: "All"}}
	for _, status := range membership.Statuses() {
		all = append(all, frame.Choice{Value: status, Label: statusBadge(status).Text})
	}
	return all
}

// environmentBadge marks what did not come from real money; ok is false for the rest.
func environmentBadge(environment string) (badge frame.Badge, ok bool) {
	switch environment {
	case "test":
		return frame.Badge{Text: "Test purchase", Kind: frame.Note}, true
	case "simulated":
		return frame.Badge{Text: "Simulated", Kind: frame.Note}, true
	}
	return frame.Badge{}, false
}

// actionWords say what a user has to do.
var actionWords = map[string]string{
	"fix_payment":   "Change the way of payment in the store",
	"confirm_price": "Confirm the new price in the store",
	"resume":        "Resume the subscription in the store",
}

// appShows says what the app should show for a membership.
func appShows(m countersign.IAPMembership) string {
	switch {
	case m.Grace:
		return "The membership, and that the payment failed"
	case m.Active:
		return "The membership"
	case m.Status == "pending":
		return "That the payment is pending"
	case m.Status == "on_hold":
		return "That the payment failed and the membership is suspended"
	case m.Status == "paused":
		return "That the membership is paused"
	case m.Status == "expired", m.Status == "revoked":
		return "The shop, and that the membership has ended"
	}
	return "The shop"
}

func sourceWords(source *string) string {
	switch {
	case source == nil:
		return "None"
	case *source == "grant":
		return "Granted by hand"
	}
	return "Purchase in the store"
}

// causeWords are why a purchase was read or changed.
var causeWords = map[string]string{
	"verify": "The app verified it", "restore": "The app restored it", "notification": "The store sent a notification",
	"schedule": "Checked as planned", "refresh": "Read again by staff", "superseded": "Replaced by a later purchase",
	"transfer": "Transferred by staff", "merge": "Moved by a merge of users", "erase": "Its user was erased",
	"acknowledged": "Acknowledged", "unverified": "The store did not confirm it in time", "gone": "The store no longer knows it",
	"voided": "Refunded or charged back", "import": "Imported by the site",
}

func causeText(cause string) string {
	if words := causeWords[cause]; words != "" {
		return words
	}
	return cause
}

// canceledWords are who cancelled a subscription.
var canceledWords = map[string]string{"user": "The user", "system": "The store", "developer": "The seller", "replacement": "A replacement"}

// eventWords are the events of memberships and purchases.
var eventWords = map[string]string{
	"membership.activated": "Membership activated", "membership.renewed": "Membership renewed", "membership.changed": "Membership changed",
	"membership.grace_started": "Grace period started", "membership.suspended": "Membership suspended", "membership.resumed": "Membership resumed",
	"membership.will_not_renew": "Membership will not renew", "membership.expired": "Membership expired", "membership.revoked": "Membership revoked",
	"membership.transferred": "Membership transferred", "membership.paid_twice": "Two subscriptions are paid", "purchase.refunded": "Purchase refunded",
	"purchase.chargeback_review": "Chargeback to review", "purchase.theft_suspected": "Another user's purchase was presented",
	"purchase.owner_unknown": "A purchase waits for a decision about its owner",
}

func eventText(event string) string {
	if words := eventWords[event]; words != "" {
		return words
	}
	return event
}

func phaseWords(phase string) string {
	switch phase {
	case "free_trial":
		return "Free trial"
	case "introductory":
		return "Introductory price"
	case "proration":
		return "Time credited from another plan"
	case "base", "":
		return "Base price"
	}
	return strings.ReplaceAll(phase, "_", " ")
}

func priceText(p countersign.IAPPurchase) string {
	if p.Price == nil {
		return "–"
	}
	return p.Price.Amount.String() + " " + p.Price.Currency
}

// addOns are the products of a purchase besides the one that it is shown as.
func addOns(p countersign.IAPPurchase) string {
	var others []string
	for _, item := range p.Items {
		if item.ProductID != p.ProductID {
			others = append(others, item.ProductID)
		}
	}
	return strings.Join(others, ", ")
}

func packageWords(p *countersign.IAPPackage) string {
	if p == nil {
		return "–"
	}
	return p.Name
}
