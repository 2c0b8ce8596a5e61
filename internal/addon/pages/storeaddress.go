package pages

import (
	"net/http"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

const pathLicenseStore = pathLicense + "/store"

func storePage(address string, errs frame.Errors) frame.Page {
	return frame.Page{Title: "Change the store's address", Crumbs: crumbs(licenseCrumb), Body: frame.Confirm{
		Consequence: "The form for license files begins with this address. Kept purchase codes stay with the stores that they were typed for.",
		Path:        pathLicenseStore, Label: "Change the address", Cancel: pathLicense, Safe: true, Errors: errs,
		Fields: []frame.Field{
			{Name: "store", Label: "Address of the store", Value: address, Required: true, Error: errs.Of("store"), Example: "https://store.example"},
			passwordField(errs),
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
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	address := in.Get("store")
	err = p.addon.SetStore(r.Context(), r.Actor, address, in.Get("password"))
	if errs, ok := frame.FormErrors(err, "store", "password"); ok {
		if fault.HasCode(err, "password_wrong") {
			errs[0].Name = "password"
		}
		return p.refuse(w, r, storePage(address, errs), err)
	}
	if err != nil {
		return err
	}
	return p.frame.Redirect(w, r, pathLicense, "The store's address was changed.")
}
