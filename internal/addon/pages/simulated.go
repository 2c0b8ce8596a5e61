package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// simulatedPage is what the page of a simulated purchase shows.
type simulatedPage struct {
	simulator.Purchase
	// last is the last step with the purchase, nil for none.
	last *simulator.Step
	// others are the products that can replace it.
	others   []simulator.Product
	packages []iap.Package
	// wrong is why the last button did nothing.
	wrong frame.Errors
}

// simulatorAct is a button of the page of a purchase.
type simulatorAct struct {
	act         simulator.Act
	label, done string
	kind        frame.Kind
}

// simulatorActs are the buttons, in their order. done is what the page says after it.
var simulatorActs = []simulatorAct{
	{simulator.Renew, "Renew", "The subscription was renewed.", frame.Plain},
	{simulator.Decline, "Decline the card", "The next payments of this purchase fail. Wait for what happens next.", frame.Plain},
	{simulator.Recover, "Accept the card", "The card is accepted again, and what was due is paid.", frame.Plain},
	{simulator.Pause, "Pause for a month", "The subscription pauses when its period ends.", frame.Plain},
	{simulator.Resume, "Resume", "The pause has ended.", frame.Plain},
	{simulator.Cancel, "Cancel", "The subscription does not renew any more. It stays active until its end.", frame.Plain},
	{simulator.UndoCancel, "Renew again", "The subscription renews again.", frame.Plain},
	{simulator.Refund, "Refund and revoke", "The last payment was refunded, and the access has ended.", frame.Danger},
	{simulator.Expire, "Let it expire", "Its paid time has ended.", frame.Plain},
}

// simulated serves the page of a simulated purchase, and what its forms ask for.
func (p *Pages) simulated(h func(http.ResponseWriter, *frame.Request, simulatedPage) error) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		if _, err := r.PostValues(); err != nil {
			return err
		}
		one, err := p.findSimulated(r)
		switch {
		case fault.HasCode(err, codeTestModeOff) && r.Method != http.MethodPost:
			return p.showSimulator(w, r)
		case err != nil:
			return err
		}
		return h(w, r, one)
	}
}

func (p *Pages) findSimulated(r *frame.Request) (page simulatedPage, err error) {
	if page.Purchase, err = p.addon.Simulator.Purchase(r.Context(), r.Actor, r.PathValue("ref")); err != nil {
		return page, err
	}
	if page.last, err = p.addon.Simulator.LastStep(r.Context(), r.Actor, page.Ref); err != nil || !page.live() {
		return page, err
	}
	if page.packages, err = p.addon.IAP.Packages(r.Context(), r.Actor); err != nil {
		return page, err
	}
	page.others, err = p.addon.Simulator.Products(r.Context(), r.Actor)
	page.others = slices.DeleteFunc(page.others, func(one simulator.Product) bool { return one.ID == page.Product || one.OneTime })
	return page, err
}

// showSimulated shows a simulated purchase, what can be done with it, and what its last step did.
func (p *Pages) showSimulated(w http.ResponseWriter, r *frame.Request, one simulatedPage) error {
	return p.frame.Show(w, r, one.page())
}

func (s simulatedPage) page() frame.Page {
	of := " of an erased user"
	if s.User != "" {
		of = " of the user " + s.User
	}
	return frame.Page{
		Title: s.Product + of, Crumbs: crumbs(simulatorCrumb), Body: simulatedView(s),
		Lead: "A simulated purchase: nothing was paid.",
	}
}

// actSimulated does what a button says.
func (p *Pages) actSimulated(w http.ResponseWriter, r *frame.Request, one simulatedPage) error {
	return p.frame.Submit(w, r, frame.Form{
		Do: func(in url.Values) error {
			what := simulator.Act(in.Get("act"))
			done := "The store's clock moved: " + nextEvent(one.Purchase) + "."
			if i := slices.IndexFunc(simulatorActs, func(a simulatorAct) bool { return a.act == what }); i >= 0 {
				done = simulatorActs[i].done
			} else if what != simulator.Wait {
				return fault.Invalid(fault.CodeInvalid, "The simulated store can't do this")
			}
			if _, err := p.addon.Simulator.Do(r.Context(), r.Actor, one.Ref, what); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, simulatedPath(one.Ref), done)
		},
		Again: one.again,
	})
}

// replaceSimulated replaces a purchase by one of another product, as the app of its user does.
func (p *Pages) replaceSimulated(w http.ResponseWriter, r *frame.Request, one simulatedPage) error {
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"product"},
		About:  map[string]string{fault.CodeInvalid: "product"},
		Check:  frame.Required("product", "Choose a product."),
		Do: func(in url.Values) error {
			step, err := p.addon.Simulator.Buy(r.Context(), r.Actor, simulator.Order{User: one.User, Product: in.Get("product"), Replaces: one.Ref})
			if err != nil {
				return err
			}
			return p.frame.Redirect(w, r, simulatedPath(step.Purchase.Ref), step.Purchase.Product+" replaces "+one.Product+".")
		},
		Again: one.again,
	})
}

func (s simulatedPage) again(_ url.Values, wrong frame.Errors) (frame.Page, error) {
	s.wrong = wrong
	return s.page(), nil
}

// live reports that the purchase can be replaced by another one.
func (s simulatedPage) live() bool { return !s.OneTime && slices.Contains(s.Acts, simulator.Expire) }

// buttons are those of the acts that are possible now.
func (s simulatedPage) buttons() (list []frame.Button) {
	if slices.Contains(s.Acts, simulator.Wait) {
		list = append(list, frame.Button{Label: "Wait: " + nextEvent(s.Purchase), Kind: frame.Primary, Name: "act", Value: string(simulator.Wait)})
	}
	for _, one := range simulatorActs {
		if slices.Contains(s.Acts, one.act) {
			list = append(list, frame.Button{Label: one.label, Kind: one.kind, Name: "act", Value: string(one.act)})
		}
	}
	return list
}

func (s simulatedPage) facts() frame.Facts {
	return frame.Facts{
		{Label: "State in the store", Value: simulatedState(s.Purchase)},
		{Label: "User", Value: frame.Words(s.User)},
		{Label: "Product", Value: frame.Mono(s.Product)},
		{Label: "Base plan", Value: frame.Mono(s.Plan)},
		{Label: "Acknowledged", Value: frame.Words(frame.YesNo(s.Acknowledged))},
		{Label: "Ends or renews", Value: endOf(s.Purchase)},
		{Label: "Next by itself", Value: nextOf(s.Purchase)},
	}
}

// answerLabel heads what the app reads after a step.
func answerLabel(s *simulator.Step) string {
	return "The app: " + s.Call + " → " + strconv.Itoa(s.Status)
}

// simulatedEvent heads an event that the site receives.
func simulatedEvent(event events.Item) string { return "Your site: " + string(event.Type) }
