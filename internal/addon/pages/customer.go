package pages

import (
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/frame"
)

// customerEvents and customerPurchases are how many of each the page of a customer has.
const (
	customerEvents    = 20
	customerPurchases = 100
)

// customerPage is what the page of a customer shows.
type customerPage struct {
	membership.Customer
	purchases []countersign.IAPPurchase
	grants    []membership.Grant
	packages  []iap.Package
	events    []events.Item
	more      bool // there are older purchases
	now       time.Time
}

// findUser reads the customer whom the address names.
func (p *Pages) findUser(r *frame.Request) (membership.Customer, error) {
	return p.addon.Members.Customer(r.Context(), r.Actor, r.PathValue("user"))
}

func (p *Pages) showCustomer(w http.ResponseWriter, r *frame.Request, one membership.Customer) (err error) {
	c := customerPage{Customer: one, now: p.frame.Now()}
	var next string
	if c.purchases, next, err = p.addon.Members.PurchasesFor(r.Context(), r.Actor, c.User, "", customerPurchases); err != nil {
		return err
	}
	c.more = next != ""
	if c.grants, err = p.addon.Members.Grants(r.Context(), r.Actor, c.User); err != nil {
		return err
	}
	if c.packages, err = p.addon.IAP.Packages(r.Context(), r.Actor); err != nil {
		return err
	}
	if c.events, err = p.addon.Events.About(r.Context(), r.Actor, c.User, customerEvents); err != nil {
		return err
	}
	page := frame.Page{Title: "Customer " + c.User, Crumbs: crumbs(customersCrumb), Body: customerView(c)}
	if len(c.packages) > 0 {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "Grant a membership", Path: customerPath(c.User, "/grant"), Icon: "plus"}, Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

// facts are the membership.
func (c customerPage) facts() frame.Facts {
	m := c.Membership
	all := frame.Facts{{Label: "Status", Value: membershipBadges(c.Customer)}}
	if m.Package != nil {
		all = append(all, frame.Fact{Label: "Package", Value: frame.Words(m.Package.Name)})
	}
	if m.Source != nil {
		all = append(all, frame.Fact{Label: "Source", Value: frame.Words(sourceWords(m.Source))})
	}
	if m.Since != nil {
		all = append(all, frame.Fact{Label: "Since", Value: frame.Time(m.Since.Time)}, frame.Fact{Label: "Until", Value: untilCell(m)})
	}
	if m.Active {
		all = append(all, frame.Fact{Label: "Renews", Value: frame.Words(frame.YesNo(m.WillRenew))})
	}
	if m.ActionRequired != nil {
		all = append(all, frame.Fact{Label: "The user has to", Value: frame.Words(actionWords[*m.ActionRequired])})
	}
	all = append(all, frame.Fact{Label: "The app shows", Value: frame.Words(appShows(m))})
	if !c.ChangedAt.IsZero() {
		all = append(all, frame.Fact{Label: "Last change", Value: frame.Time(c.ChangedAt)})
	}
	return all
}

func (c customerPage) purchaseRows() []frame.Row {
	rows := make([]frame.Row, len(c.purchases))
	for i, p := range c.purchases {
		product := frame.LinkOf(purchasePath(p.ID, ""), frame.Mono(p.ProductID))
		if others := addOns(p); others != "" {
			product = frame.Stack(product, frame.Muted("with "+others))
		}
		rows[i] = frame.Row{
			product, purchaseBadges(p), frame.Words(packageWords(p.Package)),
			frame.Amount(priceText(p)), timeOf(p.StartedAt), timeOf(p.ExpiresAt),
		}
	}
	return rows
}

// purchaseBadges are the state of a purchase, and where it comes from.
func purchaseBadges(p countersign.IAPPurchase) templ.Component {
	badge := statusBadge(p.State)
	if mark, ok := environmentBadge(p.Environment); ok {
		return frame.Group(badge, mark)
	}
	return badge
}

func timeOf(t *countersign.Timestamp) templ.Component {
	if t == nil {
		return frame.Muted("–")
	}
	return frame.Time(t.Time)
}

func (c customerPage) grantRows() []frame.Row {
	rows := make([]frame.Row, len(c.grants))
	for i, g := range c.grants {
		rows[i] = frame.Row{
			frame.Words(nameOf(c.packages, g.Package)), grantBadge(g, c.now), frame.Words(g.Reason), frame.Stack(frame.Time(g.CreatedAt), frame.Muted(g.By)),
			grantEnd(g), c.grantActions(g),
		}
	}
	return rows
}

func (c customerPage) grantActions(g membership.Grant) templ.Component {
	if grantEnded(g, c.now) {
		return frame.Muted("–")
	}
	return frame.LinkButton{
		Link: frame.Link{Label: "Revoke", Path: customerPath(c.User, "/grants/"+grantID(g)+"/end")}, Kind: frame.Danger,
		Context: "the grant of " + nameOf(c.packages, g.Package),
	}
}

func (c customerPage) eventRows() []frame.Row {
	rows := make([]frame.Row, len(c.events))
	for i, e := range c.events {
		rows[i] = frame.Row{frame.Words(eventText(string(e.Type))), frame.Mono(string(e.Type)), frame.Time(e.CreatedAt.Time), frame.Mono(e.ID)}
	}
	return rows
}
