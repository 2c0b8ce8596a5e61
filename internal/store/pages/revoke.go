package pages

import (
	"net/http"
	"net/url"

	"github.com/countersign/countersign/internal/frame"
)

// revokeLicense asks whether a license is to end, and ends it once its buyer is
// sure.
func (p *Pages) revokeLicense(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Submit(w, r, frame.Form{
		Check: complete,
		Do: func(in url.Values) error {
			o := orderOf(in)
			if in.Get("sure") == "" {
				return p.frame.Show(w, r, revokePage(o))
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
			wrong, ours := p.explain(refused)
			return wrong.At(""), ours // the page has no field for it
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			o := orderOf(in)
			o.errs = wrong
			if complete(in) != nil {
				return p.orderPage(o), nil
			}
			return revokePage(o), nil
		},
	})
}

func revokePage(o order) frame.Page {
	return frame.Page{Title: "Revoke the license of " + o.domain, Bare: true, Wide: true, Body: revokeView(o)}
}
