package pages

import (
	"net/http"
	"net/url"

	"github.com/countersign/countersign/internal/frame"
)

// revokeLicense revokes a license at the store.
func (p *Pages) revokeLicense(w http.ResponseWriter, r *frame.Request, l oneLicense) error {
	consequence := "The license of " + l.Domain + " (purchase code " + l.Code.Hint + ") ends, and its domain is free again. An app that was built with this file stops at its next start if it reads the store's list of revoked licenses. "
	if l.Free() {
		consequence += "It is a test domain, so this costs no move."
	} else {
		consequence += "It counts as one of the moves that the store allows in a year, unless the seller counts it as a test domain."
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Revoke the license of " + l.Domain, Crumbs: licenseCrumbs(l.License), Consequence: consequence,
		Path: licensePath(l.License) + "/revoke", Label: "Revoke the license", Cancel: licensePath(l.License),
		Form: frame.Form{
			Do: func(url.Values) error {
				if _, err := p.addon.Licenses.Revoke(r.Context(), r.Actor, l.ID); err != nil {
					return err
				}
				return p.frame.Redirect(w, r, licensePath(l.License), "The license of "+l.Domain+" was revoked.")
			},
			Explain: p.explainLicense,
		},
	})
}

func (p *Pages) forgetLicense(w http.ResponseWriter, r *frame.Request, l oneLicense) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Remove the file for " + l.Domain, Crumbs: licenseCrumbs(l.License),
		Consequence: "The file for " + l.Domain + " is removed from this list. The store is not contacted: the license stays valid, also in apps that were built with it.",
		Path:        licensePath(l.License) + "/forget", Label: "Remove the file", Cancel: licensePath(l.License),
		Form: frame.Form{Do: func(url.Values) error {
			if err := p.addon.Licenses.Forget(r.Context(), r.Actor, l.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, pathLicense, "The file for "+l.Domain+" was removed from the list.")
		}},
	})
}
