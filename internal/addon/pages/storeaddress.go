package pages

import (
	"net/http"
	"net/url"

	"github.com/countersign/countersign/internal/frame"
)

func storePage(address string, errs frame.Errors) frame.Page {
	return frame.Page{Title: "Change the store's address", Crumbs: crumbs(licenseCrumb), Body: frame.Confirm{
		Consequence: "This is the default address in the form for license files. Stored purchase codes keep the address of their own store.",
		Path:        pathLicenseStore, Label: "Change the address", Cancel: pathLicense, Safe: true, Errors: errs,
		Fields: []frame.Field{
			{Name: "store", Label: "Address of the store", Value: address, Required: true, Error: errs.Of("store"), Example: "https://store.example"},
			frame.PasswordField(errs),
		},
	}}
}

func (p *Pages) showStore(w http.ResponseWriter, r *frame.Request) error {
	known, err := p.addon.Licenses(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, storePage(known.Store, nil))
}

// setStore changes the address of the store with which forms begin.
func (p *Pages) setStore(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"store", "password"},
		About:  map[string]string{"password_wrong": "password"},
		Do: func(in url.Values) error {
			if err := p.addon.SetStore(r.Context(), r.Actor, in.Get("store"), in.Get("password")); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, pathLicense, "The store's address was changed.")
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return storePage(in.Get("store"), wrong), nil
		},
	})
}
