package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// lookupForm is what the box for a code holds.
type lookupForm struct {
	ws    store.WorkspaceRole
	code  string
	focus bool
	errs  frame.Errors
}

func (p *Pages) showLookup(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	return p.frame.Redirect(w, r, purchasesPath(ws, ""), "")
}

// lookUp leads to the purchase of a code, or explains why the code is not found.
func (p *Pages) lookUp(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	return p.frame.Submit(w, r, frame.Form{
		Check: frame.Required("code", "Paste the purchase code."),
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.lookupPage(r, lookupForm{ws, in.Get("code"), true, wrong})
		},
		Do: func(in url.Values) error {
			if err := p.limits.Admit(w); err != nil {
				return err
			}
			code := strings.Join(strings.Fields(in.Get("code")), "")
			c, err := p.store.Validation.Check(r.Context(), r.Actor, code)
			if err != nil {
				return err
			}
			if c.Purchase.ID == 0 {
				refused := p.limits.Failed(w, fault.NotFound(c.Code, c.Reason))
				if fault.HasCode(refused, c.Code) {
					refused = wrongField("code", fault.Sentence(refused))
				}
				return refused
			}
			path := purchasePath(ws, c.Purchase.ID, "")
			if !c.Valid {
				return p.frame.Warn(w, r, path, "This code is not valid: "+c.Reason+".")
			}
			return p.frame.Redirect(w, r, path, "This code is valid.")
		},
	})
}

// lookupPage is the box again, with the purchases whose codes are similar.
func (p *Pages) lookupPage(r *frame.Request, f lookupForm) (frame.Page, error) {
	found, err := p.store.Validation.Nearby(r.Context(), r.Actor, f.ws.Account.Username, f.code)
	rows := make([]frame.Row, len(found))
	for i, one := range found {
		rows[i] = frame.Row{
			frame.Mono(one.Code), frame.Words(cmp.Or(one.BuyerName, one.BuyerEmail, "–")), frame.Time(one.SoldAt.Time), stateBadge(one.State),
			frame.LinkButton{Link: frame.Link{Label: "Open", Path: purchasePath(f.ws, one.ID, "")}, Context: shortCode(one.Code)},
		}
	}
	return frame.Page{Title: "Look up a code", Crumbs: purchasesCrumbs(f.ws), Body: lookupPageView(f, rows)}, err
}
