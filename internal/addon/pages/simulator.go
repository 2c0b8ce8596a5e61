package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// simulatorPage is what the list of simulated purchases shows.
type simulatorPage struct {
	purchases []simulator.Purchase
	products  []simulator.Product
	packages  []iap.Package
	// now is the time on the store's clock.
	now  time.Time
	form orderForm
}

// orderForm is a purchase as it was typed.
type orderForm struct {
	user, product, plan string
	errs                frame.Errors
}

// codeTestModeOff is that of an error of the simulated store that does not answer.
const codeTestModeOff = "test_mode_off"

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
	page := frame.Page{
		Title: "Simulated store", Crumbs: crumbs(),
		Lead: "In test mode this store replaces the real one. Buy, renew, decline the card and refund here, and see what the app and your site receive.",
	}
	s := simulatorPage{form: f}
	var err error
	if s.purchases, s.now, err = p.addon.Simulator.Purchases(r.Context(), r.Actor); fault.HasCode(err, codeTestModeOff) {
		page.Body = simulatorOffView()
		return page, nil
	} else if err != nil {
		return page, err
	}
	if s.products, err = p.addon.Simulator.Products(r.Context(), r.Actor); err != nil {
		return page, err
	}
	if s.packages, err = p.addon.IAP.Packages(r.Context(), r.Actor); err != nil {
		return page, err
	}
	page.Body = simulatorView(s)
	if len(s.purchases) > 0 {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "Remove all", Path: pathSimulator + "/clear"}, Kind: frame.Danger}
	}
	return page, nil
}

// buySimulated buys in the simulated store, as the app of a user does.
func (p *Pages) buySimulated(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"user", "product", "plan"},
		About:  map[string]string{fault.CodeInvalid: "user"},
		Check:  frame.Required("user", "Type the ID that the user has on your site.", "product", "Choose a product."),
		Do: func(in url.Values) error {
			step, err := p.addon.Simulator.Buy(r.Context(), r.Actor, simulator.Order{User: in.Get("user"), Product: in.Get("product"), Plan: in.Get("plan")})
			if err != nil {
				return err
			}
			return p.frame.Redirect(w, r, simulatedPath(step.Purchase.Ref), "Bought "+step.Purchase.Product+" as the user "+step.Purchase.User+".")
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.simulatorPage(r, orderForm{user: in.Get("user"), product: in.Get("product"), plan: in.Get("plan"), errs: wrong})
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

// productChoices are the products that can be bought, with what each activates.
func productChoices(products []simulator.Product, packages []iap.Package) (list []frame.Choice) {
	for _, one := range products {
		name := "package " + strconv.FormatInt(one.PackageID, 10)
		if i := slices.IndexFunc(packages, func(k iap.Package) bool { return k.ID == one.PackageID }); i >= 0 {
			name = packages[i].Name
		}
		list = append(list, frame.Choice{Value: one.ID, Label: name + " (" + one.ID + ")"})
	}
	return list
}

// planChoices are the base plans of every product.
var planChoices = []frame.Choice{
	{Value: simulator.Monthly, Label: "Monthly"}, {Value: simulator.Yearly, Label: "Yearly"}, {Value: simulator.Prepaid, Label: "Prepaid for a month, without renewal"},
}

// rows is the table of purchases.
func (s simulatorPage) rows() (rows []frame.Row) {
	for _, one := range s.purchases {
		rows = append(rows, frame.Row{
			frame.Link{Label: one.Product, Path: simulatedPath(one.Ref)}, frame.Words(one.User), simulatedState(one),
			endOf(one), nextOf(one),
		})
	}
	return rows
}

// simulatedStates are the store's states as people read them.
var simulatedStates = map[string]frame.Badge{
	"active": {Text: "Active", Kind: frame.Good}, "canceled": {Text: "Canceled, paid until its end", Kind: frame.Warning},
	"in_grace_period": {Text: "Grace period", Kind: frame.Warning}, "on_hold": {Text: "On hold", Kind: frame.Danger},
	"paused": {Text: "Paused", Kind: frame.Warning}, "expired": {Text: "Expired"},
	"pending": {Text: "Payment pending", Kind: frame.Note}, "purchased": {Text: "Bought once", Kind: frame.Good}, "cancelled": {Text: "Refunded"},
}

func simulatedState(one simulator.Purchase) templ.Component {
	badge, known := simulatedStates[one.State]
	if !known {
		badge.Text = one.State
	}
	switch {
	case one.Superseded:
		badge = frame.Badge{Text: "Replaced"}
	case one.Declined && one.State == "active":
		badge = frame.Badge{Text: "Active, card declined", Kind: frame.Warning}
	}
	return badge
}

// endOf is when a purchase ends or renews.
func endOf(one simulator.Purchase) templ.Component {
	if one.Superseded {
		return frame.Time(time.Time{})
	}
	return frame.Time(one.ExpiresAt)
}

// nextEvents are what happens by itself, by the state after it.
var nextEvents = map[string]string{
	"active": "it renews", "in_grace_period": "the grace period begins", "on_hold": "account hold begins", "paused": "the pause begins", "expired": "it expires", "cancelled": "it is refunded",
}

// nextEvent says what happens next by itself.
func nextEvent(one simulator.Purchase) string {
	switch {
	case one.State == "paused":
		return "it resumes"
	case one.Declined && one.NextState == "active":
		return "a payment fails"
	}
	if event, known := nextEvents[one.NextState]; known {
		return event
	}
	return "it is " + strings.ReplaceAll(one.NextState, "_", " ")
}

// nextOf says what happens next by itself, and when.
func nextOf(one simulator.Purchase) templ.Component {
	if one.Next.IsZero() || one.Superseded {
		return frame.Muted("nothing")
	}
	return frame.Stack(frame.Words(nextEvent(one)), frame.Time(one.Next))
}

// simulatedPath is the page of a purchase.
func simulatedPath(ref string) string { return pathSimulator + "/" + url.PathEscape(ref) }
