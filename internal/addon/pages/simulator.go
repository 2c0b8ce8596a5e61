package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// simulatorPage is what the list of simulated purchases shows.
type simulatorPage struct {
	simulator.Shop
	form orderForm
}

// orderForm is a purchase as it was typed.
type orderForm struct {
	user, product string
	errs          frame.Errors
}

var simulatorCrumb = frame.Link{Label: "Simulated store", Path: pathSimulator}

// showSimulator lists the simulated purchases, with a form to buy another one.
func (p *Pages) showSimulator(w http.ResponseWriter, r *frame.Request) error {
	page, err := p.simulatorPage(r, orderForm{user: "42"})
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) simulatorPage(r *frame.Request, f orderForm) (frame.Page, error) {
	shop, err := p.addon.Simulator.Shop(r.Context(), r.Actor)
	page := frame.Page{
		Title: "Simulated store", Crumbs: crumbs(),
		Lead: "In test mode this store replaces the real one. Buy, renew, decline the card and refund here, and see what the app and your site receive.",
	}
	switch {
	case fault.HasCode(err, simulator.CodeTestModeOff):
		page.Body = simulatorOffView()
		return page, nil
	case err != nil:
		return page, err
	}
	page.Body = simulatorView(simulatorPage{shop, f})
	if len(shop.Purchases) > 0 {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "Remove all", Path: pathSimulator + "/clear"}, Kind: frame.Danger}
	}
	return page, nil
}

// buySimulated buys in the simulated store, as the app of a user does.
func (p *Pages) buySimulated(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"user", "product"},
		About:  map[string]string{"product": "product", "invalid_request": "user"},
		Check:  frame.Required("user", "Type the ID that the user has on your site.", "product", "Choose a product."),
		Do: func(in url.Values) error {
			step, err := p.addon.Simulator.Buy(r.Context(), r.Actor, simulator.Order{User: in.Get("user"), Product: in.Get("product")})
			if err != nil {
				return err
			}
			return p.frame.Redirect(w, r, simulatedPath(step.Purchase.Ref)+stepAnchor, "Bought "+step.Purchase.Product+" as the user "+step.Purchase.User+".")
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.simulatorPage(r, orderForm{user: in.Get("user"), product: in.Get("product"), errs: wrong})
		},
	})
}

// clearSimulator asks before all simulated purchases are removed.
func (p *Pages) clearSimulator(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Remove all simulated purchases", Crumbs: crumbs(simulatorCrumb),
		Consequence: "Every simulated purchase is removed, here and from its customer. Memberships that only such a purchase activated end, and your site receives an event for each. Real purchases stay.",
		Path:        pathSimulator + "/clear", Label: "Remove all", Cancel: pathSimulator, Failed: "Nothing was removed.",
		Form: frame.Form{Do: func(url.Values) error {
			if err := p.addon.Simulator.Clear(r.Context(), r.Actor); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, pathSimulator, "All simulated purchases were removed.")
		}},
	})
}

// productChoices are the products that can be bought.
func productChoices(all []simulator.Product) (list []frame.Choice) {
	for _, one := range all {
		{
			list = append(list, frame.Choice{Value: one.ID, Label: one.ID + " (activates " + one.Package + ", " + one.Price + " a month)"})
		}
	}
	return list
}

// rows is the table of purchases.
func (s simulatorPage) rows() (rows []frame.Row) {
	for _, one := range s.Purchases {
		rows = append(rows, frame.Row{
			frame.Link{Label: one.Product, Path: simulatedPath(one.Ref)}, frame.Words(one.User), simulatedState(one),
			frame.Time(one.ExpiresAt), nextOf(one),
		})
	}
	return rows
}

// simulatedStates are the store's states as people read them.
var simulatedStates = map[string]frame.Badge{
	"PENDING": {Text: "Payment pending", Kind: frame.Note}, "ACTIVE": {Text: "Active", Kind: frame.Good},
	"CANCELED": {Text: "Canceled, paid until its end", Kind: frame.Warning}, "IN_GRACE_PERIOD": {Text: "Grace period", Kind: frame.Warning},
	"ON_HOLD": {Text: "On hold", Kind: frame.Danger}, "PAUSED": {Text: "Paused", Kind: frame.Warning}, "EXPIRED": {Text: "Expired"},
	"PENDING_PURCHASE_CANCELED": {Text: "Never paid"},
}

func simulatedState(one simulator.Purchase) templ.Component {
	badge, known := simulatedStates[one.State]
	if !known {
		badge.Text = one.State
	}
	switch {
	case one.Superseded:
		badge = frame.Badge{Text: "Replaced"}
	case one.Declined && one.State == "ACTIVE":
		badge = frame.Badge{Text: "Active, its card is declined", Kind: frame.Warning}
	}
	return badge
}

// nextOf says what happens by itself, and when.
func nextOf(one simulator.Purchase) templ.Component {
	if one.Next.IsZero() {
		return frame.Muted("nothing")
	}
	return frame.Stack(frame.Words(one.NextWhat), frame.Time(one.Next))
}

// ahead says how far the store's clock is from the real one.
func ahead(d time.Duration) string {
	if days := int(d / (24 * time.Hour)); days > 0 {
		return ", " + frame.Count(days, "day") + " ahead"
	}
	if hours := int(d / time.Hour); hours > 0 {
		return ", " + frame.Count(hours, "hour") + " ahead"
	}
	return ""
}

// simulatedPath is the page of a purchase.
func simulatedPath(ref string) string { return pathSimulator + "/" + url.PathEscape(ref) }
