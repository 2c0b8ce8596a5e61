package pages

import (
	"net/http"
	"net/url"

	"github.com/countersign/countersign/internal/frame"
)

// setStore changes the address of the store with which forms begin.
func (p *Pages) setStore(w http.ResponseWriter, r *frame.Request) error {
	known, err := p.addon.Licenses.List(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Change the store's address", Crumbs: crumbs(licenseCrumb),
		Consequence: "This is the default address in the form for license files. Stored purchase codes keep the address of their own store.",
		Path:        pathLicenseStore, Label: "Change the address", Cancel: pathLicense, Safe: true,
		Fields: []frame.Field{
			{Name: "store", Label: "Address of the store", Value: known.Store, Required: true, Example: "https://store.example"},
			frame.PasswordField(nil),
		},
		Form: frame.Form{
			Fields: []string{"store", "password"},
			Do: func(in url.Values) error {
				if err := p.addon.Licenses.SetStore(r.Context(), r.Actor, in.Get("store"), in.Get("password")); err != nil {
					return err
				}
				return p.frame.Redirect(w, r, pathLicense, "The store's address was changed.")
			},
		},
	})
}
