package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// mergeCustomer moves everything of a user to another one.
func (p *Pages) mergeCustomer(w http.ResponseWriter, r *frame.Request, c membership.Customer) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Merge " + c.User + " into another user", Crumbs: customerCrumbs(c.User), Safe: true, Failed: "Nothing was moved.",
		Consequence: "The purchases and grants of " + c.User + " move to another user of your site. Both users get an event. Use it after your site merged two accounts. It can't be undone.",
		Path:        customerPath(c.User, "/merge"), Label: "Merge the users", Cancel: customerPath(c.User, ""),
		Fields: []frame.Field{{Name: "to", Label: "User ID that stays", Required: true, Help: "As your site has it."}},
		Form: frame.Form{
			Fields: []string{"to"}, About: map[string]string{"invalid_request": "to"},
			Check: frame.Required("to", "Type the user ID."),
			Do: func(in url.Values) error {
				to := strings.TrimSpace(in.Get("to"))
				m, err := p.addon.Members.Merge(r.Context(), r.Actor, c.User, to)
				if err != nil {
					return err
				}
				moved := frame.Count(int(m.Purchases), "purchase") + " and " + frame.Count(int(m.Grants), "grant")
				return p.frame.Redirect(w, r, customerPath(to, ""), "Moved from "+c.User+" to "+to+": "+moved+".")
			},
		},
	})
}

// eraseSteps say what to do about a user who is not erased.
var eraseSteps = fault.NextSteps{"subscription_renews": "cancel the renewals on the page of the purchase, or choose below to erase all the same"}

// eraseCustomer deletes what leads to a user.
func (p *Pages) eraseCustomer(w http.ResponseWriter, r *frame.Request, c membership.Customer) error {
	const force = "erase"
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Erase " + c.User, Crumbs: customerCrumbs(c.User), Failed: "Nothing was erased.",
		Consequence: "The membership, the grants, the account ids and the events of " + c.User + " are deleted. Purchases stay for your books, without the user and without their tokens. Your site gets no event. It can't be undone.",
		Path:        customerPath(c.User, "/erase"), Label: "Erase the user", Cancel: customerPath(c.User, ""),
		Fields: []frame.Field{{Name: "renews", Label: "If the store still renews a subscription", Kind: frame.Select, Choices: []frame.Choice{
			{Value: "keep", Label: "Do not erase the user"}, {Value: force, Label: "Erase the user. The store goes on charging"},
		}}},
		Form: frame.Form{
			Fields: []string{"renews"}, NextSteps: eraseSteps,
			Do: func(in url.Values) error {
				e, err := p.addon.Members.Erase(r.Context(), r.Actor, c.User, in.Get("renews") == force)
				if err != nil {
					return err
				}
				return p.frame.Redirect(w, r, pathCustomers, c.User+" was erased. Purchases without a user now: "+frame.Thousands(e.Purchases)+".")
			},
		},
	})
}
