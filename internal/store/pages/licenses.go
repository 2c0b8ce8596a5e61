package pages

import (
	"net/http"
	"net/url"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
)

func licensePath(ws store.WorkspaceRole, l licensing.License, below string) string {
	return workspacePath(ws.Account.Username, "/licenses/"+l.ID+below)
}

// licenseEnds are the endings of a license as people read them.
var licenseEnds = map[licensing.Ending]string{
	licensing.EndingMoved: "moved by its buyer", licensing.EndingGivenUp: "revoked by its buyer",
	licensing.EndingReplaced: "replaced", licensing.EndingRevoked: "revoked",
}

// licenseRows is the table of a purchase's licenses.
func licenseRows(ws store.WorkspaceRole, licenses []licensing.License) []frame.Row {
	rows := make([]frame.Row, len(licenses))
	for i, l := range licenses {
		rows[i] = frame.Row{
			frame.Words(licensing.DomainOf(l.License).String()), frame.Mono(l.ID), frame.Time(l.IssuedAt.Time), licenseState(l), licenseActions(ws, l),
		}
	}
	return rows
}

func licenseState(l licensing.License) templ.Component {
	if l.Ended != "" {
		return frame.Stack(frame.Badge{Text: "Ended", Kind: frame.Warning}, frame.Muted(licenseEnds[l.Ended]))
	}
	return frame.Badge{Text: "Active", Kind: frame.Good}
}

// licenseActions are the buttons of a license in use, for those who may press them.
func licenseActions(ws store.WorkspaceRole, l licensing.License) templ.Component {
	if l.Ended != "" || !isManager(ws) {
		return frame.Muted("–")
	}
	domain := licensing.DomainOf(l.License).String()
	return frame.Group(
		frame.LinkButton{Link: frame.Link{Label: "Move", Path: licensePath(ws, l, "/move")}, Context: "the license for " + domain, Kind: frame.Danger},
		frame.LinkButton{Link: frame.Link{Label: "Revoke", Path: licensePath(ws, l, "/revoke")}, Context: "the license for " + domain, Kind: frame.Danger},
	)
}

// onLicense serves what the address names: a license of the workspace, to those who may
// change it.
func (p *Pages) onLicense(h func(http.ResponseWriter, *frame.Request, store.WorkspaceRole, licensing.License) error) http.Handler {
	return p.inWorkspace(func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
		l, err := p.store.Licensing.Show(r.Context(), r.Actor, r.PathValue("license"))
		if err == nil {
			err = p.store.MayManage(r.Context(), r.Actor, ws.Account.Username)
		}
		if err != nil {
			return err
		}
		return h(w, r, ws, l)
	})
}

// licenseCrumbs lead to a page about a license of a purchase.
func licenseCrumbs(ws store.WorkspaceRole, l licensing.License) []frame.Link {
	return append(purchasesCrumbs(ws), frame.Link{Label: shortCode(l.Code), Path: purchasePath(ws, l.PurchaseID, "")})
}

func (p *Pages) revokeIssued(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, l licensing.License) error {
	domain, back := licensing.DomainOf(l.License).String(), purchasePath(ws, l.PurchaseID, "")
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Revoke the license for " + domain, Crumbs: licenseCrumbs(ws, l),
		Consequence: "The license is on the list of revoked licenses from now on: apps that were built with its file stop at their next start once they have fetched the list. This can't be undone. The purchase code stays valid.",
		Path:        licensePath(ws, l, "/revoke"), Label: "Revoke", Cancel: back, Failed: "Nothing was revoked.",
		Form: frame.Form{Do: func(url.Values) error {
			if _, err := p.store.Licensing.Revoke(r.Context(), r.Actor, l.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, back, "The license for "+domain+" is revoked.")
		}},
	})
}

// moveIssued moves a license to another domain. It does not count as a move of the buyer.
func (p *Pages) moveIssued(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, l licensing.License) error {
	domain, back := licensing.DomainOf(l.License).String(), purchasePath(ws, l.PurchaseID, "")
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Move the license for " + domain, Crumbs: licenseCrumbs(ws, l),
		Consequence: "The license for " + domain + " ends, and its file is on the list of revoked licenses. The buyer gets the file for the new domain with the purchase code, on the license page. This does not count as a move of the buyer.",
		Path:        licensePath(ws, l, "/move"), Label: "Move", Cancel: back, Failed: "Nothing was moved.",
		Fields: []frame.Field{{Name: "domain", Label: "New domain", Required: true, Focus: true, Example: "shop.example"}},
		Form: frame.Form{
			Check:  frame.Required("domain", "Type the new domain."),
			Fields: []string{"domain"},
			About:  map[string]string{"domain": "domain", "license": "domain"},
			Do: func(in url.Values) error {
				moved, err := p.store.Licensing.Reassign(r.Context(), r.Actor, p.baseURL, l.ID, in.Get("domain"))
				if err != nil {
					return err
				}
				return p.frame.Redirect(w, r, back, "The license was moved to "+licensing.DomainOf(moved.License.License).String()+".")
			},
		},
	})
}
