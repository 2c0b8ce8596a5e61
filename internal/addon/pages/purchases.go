package pages

import (
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/frame"
)

// purchasePage is what the page of a purchase shows.
type purchasePage struct {
	membership.PurchaseDetails
	timeline []membership.Moment
	now      time.Time
}

// findPurchase reads the purchase that the address names.
func (p *Pages) findPurchase(r *frame.Request) (membership.PurchaseDetails, error) {
	return p.addon.Members.PurchaseFor(r.Context(), r.Actor, r.PathValue("purchase"))
}

func (p *Pages) showPurchase(w http.ResponseWriter, r *frame.Request, d membership.PurchaseDetails) error {
	timeline, err := p.addon.Members.Timeline(r.Context(), r.Actor, d.Purchase.ID)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "Purchase of " + d.Purchase.ProductID, Crumbs: purchaseCrumbs(d)[:len(purchaseCrumbs(d))-1],
		Body: purchaseView(purchasePage{d, timeline, p.frame.Now()}),
	})
}

// purchaseCrumbs lead to a page about a purchase, by its owner.
func purchaseCrumbs(d membership.PurchaseDetails) []frame.Link {
	all := crumbs(customersCrumb)
	if d.User != "" {
		all = append(all, customerCrumb(d.User))
	}
	return append(all, frame.Link{Label: d.Purchase.ProductID, Path: purchasePath(d.Purchase.ID, "")})
}

func (p purchasePage) facts() frame.Facts {
	b := p.Purchase
	if b.OneTime {
		return p.onceFacts()
	}
	all := frame.Facts{
		{Label: "State", Value: p.badges()},
		{Label: "Owner", Value: ownerOf(p.PurchaseDetails)},
		{Label: "Package", Value: frame.Words(packageWords(b.Package))},
		{Label: "Product", Value: frame.Stack(frame.Mono(b.ProductID), frame.Muted(planText(b.BasePlanID, b.OfferID, b.Phase)))},
		{Label: "Renewal price", Value: frame.Words(priceText(b))},
		{Label: "Started", Value: timeOf(b.StartedAt)},
		{Label: "Paid until", Value: timeOf(b.ExpiresAt)},
		{Label: "Renews", Value: frame.Words(p.renewal())},
	}
	if b.AutoResumeAt != nil {
		all = append(all, frame.Fact{Label: "Resumes", Value: timeOf(b.AutoResumeAt)})
	}
	if b.OrderID != "" {
		all = append(all, frame.Fact{Label: "Last order", Value: frame.Mono(b.OrderID)})
	}
	if p.Region != "" {
		all = append(all, frame.Fact{Label: "Country", Value: frame.Words(p.Region)})
	}
	all = append(all, frame.Fact{Label: "Acknowledged", Value: frame.Words(frame.YesNo(b.Acknowledged))})
	if b.Replaces != nil {
		all = append(all, frame.Fact{Label: "Replaces", Value: frame.LinkOf(purchasePath(*b.Replaces, ""), frame.Mono(*b.Replaces))})
	}
	if p.SupersededBy != "" {
		all = append(all, frame.Fact{Label: "Replaced by", Value: frame.LinkOf(purchasePath(p.SupersededBy, ""), frame.Mono(p.SupersededBy))})
	}
	return append(all,
		frame.Fact{Label: "Purchase ID", Value: frame.Mono(b.ID)},
		frame.Fact{Label: "Read from the store", Value: frame.Time(p.ReadAt)})
}

// onceFacts are those of a product that was bought once.
func (p purchasePage) onceFacts() frame.Facts {
	b := p.Purchase
	until := frame.Words("For ever")
	if b.ExpiresAt != nil || !p.Access {
		until = timeOf(b.ExpiresAt)
	}
	return frame.Facts{
		{Label: "State", Value: p.badges()},
		{Label: "Owner", Value: ownerOf(p.PurchaseDetails)},
		{Label: "Package", Value: frame.Words(packageWords(b.Package))},
		{Label: "Product", Value: frame.Stack(frame.Mono(b.ProductID), frame.Muted("Bought once"))},
		{Label: "Paid", Value: timeOf(b.StartedAt)},
		{Label: "Until", Value: until},
		{Label: "Order", Value: frame.Mono(b.OrderID)},
		{Label: "Accepted in the store", Value: frame.Words(frame.YesNo(b.Acknowledged))},
		{Label: "Purchase ID", Value: frame.Mono(b.ID)},
		{Label: "Read from the store", Value: frame.Time(p.ReadAt)},
	}
}

func (p purchasePage) badges() templ.Component {
	badges := []templ.Component{statusBadge(p.Purchase.State)}
	if mark, ok := environmentBadge(p.Purchase.Environment); ok {
		badges = append(badges, mark)
	}
	if p.Unverified {
		badges = append(badges, frame.Badge{Text: "Not confirmed", Kind: frame.Warning})
	}
	return frame.Group(badges...)
}

// ownerOf is the way to the owner of a purchase.
func ownerOf(d membership.PurchaseDetails) templ.Component {
	if d.User == "" {
		return frame.Muted("Nobody")
	}
	owner := frame.LinkOf(customerPath(d.User, ""), frame.Mono(d.User))
	if d.Transferred {
		return frame.Stack(owner, frame.Muted("Moved here by staff"))
	}
	return owner
}

func planText(plan string, offer *string, phase string) string {
	text := plan
	if offer != nil {
		text += ", offer " + *offer
	}
	return text + " · " + phaseWords(phase)
}

// renewal says whether the store renews it, and if not, who cancelled it.
func (p purchasePage) renewal() string {
	switch by := canceledWords[p.CanceledBy]; {
	case p.Purchase.AutoRenewing:
		return "Yes"
	case by != "":
		return "No. " + by + " cancelled it"
	}
	return "No"
}

// paid reports whether the time that was paid has not ended.
func (p purchasePage) paid() bool {
	return p.Purchase.ExpiresAt != nil && p.now.Before(p.Purchase.ExpiresAt.Time)
}

// mayAct reports whether the store can be asked to do something with it.
func (p purchasePage) mayAct() bool { return !p.TokenLost && p.SupersededBy == "" }

func (p purchasePage) actions() (all []templ.Component) {
	link := func(label, below string, kind frame.Kind) {
		all = append(all, frame.LinkButton{Link: frame.Link{Label: label, Path: purchasePath(p.Purchase.ID, below)}, Kind: kind})
	}
	if !p.TokenLost {
		all = append(all, frame.Button{Label: "Read from the store", Icon: "refresh-cw", Path: purchasePath(p.Purchase.ID, "/refresh")})
	}
	if p.User != "" || len(p.Claimants) > 0 {
		link("Transfer", "/transfer", frame.Plain)
	}
	if len(p.Claimants) > 0 {
		link("Refuse", "/refuse", frame.Plain)
	}
	if p.mayAct() && p.Purchase.AutoRenewing {
		link("Defer the renewal", "/defer", frame.Plain)
		link("Cancel renewals", "/cancel", frame.Plain)
	}
	if p.mayAct() && p.Purchase.OrderID != "" && (p.Access || p.paid()) {
		link("Refund", "/refund", frame.Danger)
	}
	return all
}

// items are the products of a subscription with add-ons.
func (p purchasePage) items() []frame.Row {
	rows := make([]frame.Row, len(p.Purchase.Items))
	for i, item := range p.Purchase.Items {
		rows[i] = frame.Row{
			frame.Stack(frame.Mono(item.ProductID), frame.Muted(item.BasePlanID)), frame.Words(packageWords(item.Package)),
			timeOf(item.ExpiresAt), frame.Words(frame.YesNo(item.AutoRenewing)),
		}
	}
	return rows
}

func (p purchasePage) rows() []frame.Row {
	rows := make([]frame.Row, len(p.timeline))
	for i, m := range p.timeline {
		what := []templ.Component{frame.Words(causeText(m.Cause))}
		if m.Detail != "" {
			what = append(what, frame.Muted(m.Detail))
		}
		order := frame.Muted("–")
		if m.OrderID != "" {
			order = frame.Mono(m.OrderID)
		}
		rows[i] = frame.Row{frame.Time(m.At), frame.Stack(what...), statusBadge(m.Status), frame.Mono(m.State), frame.Time(m.ExpiresAt), order}
	}
	return rows
}
