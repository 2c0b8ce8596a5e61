package pages

import (
	"net/http"
	"net/url"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store/licensing"
)

// revokeLicense asks whether a license is to end, and ends it once its buyer is
// sure.
func (p *Pages) revokeLicense(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Submit(w, r, frame.Form{
		Check: complete,
		Do: func(in url.Values) error {
			o := orderOf(in)
			if in.Get("sure") == "" {
				return p.askRevoke(w, r, o)
			}
			err := p.withCode(w, o.code, func() error {
				_, err := p.store.Licensing.RevokeForBuyer(r.Context(), buyer(r), o.code, o.domain, "")
				return err
			})
			if err != nil {
				return refusal(err)
			}
			return p.frame.Show(w, r, frame.Page{Title: "The license of " + o.domain + " has ended", Bare: true, Wide: true, Body: revokedView(o.domain)})
		},
		Explain: func(refused error) (frame.Errors, bool) {
			wrong, explained := p.explain(refused)
			return wrong.At(""), explained // the page has no field for it
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			o := orderOf(in)
			o.errs = wrong
			if complete(in) != nil {
				return p.orderPage(o), nil
			}
			return revokePage(o, nil), nil
		},
	})
}

// askRevoke asks whether a license is to end, with what that costs.
func (p *Pages) askRevoke(w http.ResponseWriter, r *frame.Request, o order) error {
	var cost licensing.MoveCost
	err := p.withCode(w, o.code, func() (err error) {
		cost, err = p.store.Licensing.RevokeCost(r.Context(), buyer(r), o.code, o.domain)
		return err
	})
	if err != nil {
		return refusal(err)
	}
	return p.frame.Show(w, r, revokePage(o, &cost))
}

// revokePage is the question, with its cost unless that is not known.
func revokePage(o order, cost *licensing.MoveCost) frame.Page {
	return frame.Page{Title: "Revoke the license of " + o.domain, Bare: true, Wide: true, Body: revokeView(o, cost)}
}
