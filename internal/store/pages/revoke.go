package pages

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// revokeLicense asks whether a license is to end, and ends it once its buyer is
// sure.
func (p *Pages) revokeLicense(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	o := orderOf(in)
	if !o.complete() {
		return p.refuse(w, r, o, nil)
	}
	if in.Get("sure") == "" {
		return p.frame.Show(w, r, revokePage(o))
	}
	err = p.withCode(w, o.code, func() error {
		_, err := p.store.Licensing.RevokeForBuyer(r.Context(), buyer(r), o.code, o.domain, "")
		return err
	})
	if err != nil {
		return p.refuseRevoke(w, r, o, err)
	}
	return p.frame.Show(w, r, frame.Page{Title: "The license of " + o.domain + " has ended", Bare: true, Wide: true, Body: revokedView(o.domain)})
}

func revokePage(o order) frame.Page {
	return frame.Page{Title: "Revoke the license of " + o.domain, Bare: true, Wide: true, Body: revokeView(o)}
}

// refuseRevoke asks again and says why nothing was revoked.
func (p *Pages) refuseRevoke(w http.ResponseWriter, r *frame.Request, o order, err error) error {
	refusal := fault.Of(err)
	if refusal == nil || refusal.Kind == countersign.KindUnavailable {
		return fault.Public(err)
	}
	if o.errs = explain(refusal, p.frame.Now()); o.errs == nil {
		return refusal
	}
	for i := range o.errs {
		o.errs[i].Name = "" // the page has no field for it
	}
	page := revokePage(o)
	page.Status = frame.FormStatus(refusal)
	if refusal.Kind == countersign.KindNotFound { // the page is there; the code is what is wrong
		page.Status = http.StatusUnprocessableEntity
	}
	return p.frame.Show(w, r, page)
}
