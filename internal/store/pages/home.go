package pages

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// showHome says what this is and where visitors find what they want. Somebody who is
// signed in is led to the workspaces. A program that
// wants JSON is told that there is nothing here for it.
func (p *Pages) showHome(w http.ResponseWriter, r *frame.Request) error {
	if r.WantsJSON() {
		return fault.NotFound(countersign.CodeNotFound, "")
	}
	if r.User.ID != 0 {
		return p.frame.Redirect(w, r, PathWorkspaces, "")
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "Start", Heading: "Purchase codes and license files", Bare: true, Wide: true, Body: homeContents,
		Lead: "This store verifies purchase codes for programs, and signs license files for the sites of buyers.",
	})
}

var homeContents = frame.Contents{
	{Link: frame.Link{Label: "Get a license file", Path: PathLicense}, Text: "For buyers. You need the purchase code from your receipt and the domain of your site."},
	{Link: frame.Link{Label: "Sign in", Path: PathSignIn}, Text: "For authors and the people who run this store. You work on items, purchases and API keys."},
	{Link: frame.Link{Label: "Use the API", Path: frame.PathReference}, Text: "For authors. Your program validates purchase codes with an API key of your workspace."},
	{Link: frame.Link{Label: "Read the manuals", Path: frame.PathDocs}, Text: "For the people who run a store, or the addon on their site."},
}
