package pages

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

func revokePage(l addon.License, errs frame.Errors) frame.Page {
	consequence := "The license of " + l.Domain + " (purchase code " + l.Code.Hint + ") ends, and its domain is free again. An app that was built with this file stops at its next start if it reads the store's list of revoked licenses. "
	if l.Free() {
		consequence += "It is a test domain, so this costs no move."
	} else {
		consequence += "It counts as one of the moves that the store allows in a year, unless the seller counts it as a test domain."
	}
	return frame.Page{Title: "Revoke the license of " + l.Domain, Crumbs: crumbs(licenseCrumb, frame.Link{Label: l.Domain, Path: licensePath(l)}), Body: frame.Confirm{
		Consequence: consequence, Path: licensePath(l) + "/revoke", Label: "Revoke the license", Cancel: licensePath(l), Errors: errs,
	}}
}

func (p *Pages) showRevoke(w http.ResponseWriter, r *frame.Request) error {
	l, _, err := p.oneLicense(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, revokePage(l, nil))
}

// revokeLicense gives a license up at the store.
func (p *Pages) revokeLicense(w http.ResponseWriter, r *frame.Request) error {
	l, _, err := p.oneLicense(r)
	if err != nil {
		return err
	}
	_, err = p.addon.RevokeLicense(r.Context(), r.Actor, l.ID)
	if err == nil {
		return p.frame.Redirect(w, r, licensePath(l), "The license of "+l.Domain+" was revoked.")
	}
	errs, ok := licenseErrors(err, p.frame.Now())
	if !ok {
		return err
	}
	for i := range errs {
		errs[i].Name = "" // the page has no field for it
	}
	return p.refuse(w, r, revokePage(l, errs), err)
}

func (p *Pages) showForget(w http.ResponseWriter, r *frame.Request) error {
	l, _, err := p.oneLicense(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "Forget the file for " + l.Domain, Crumbs: crumbs(licenseCrumb, frame.Link{Label: l.Domain, Path: licensePath(l)}), Body: frame.Confirm{
			Consequence: "The file for " + l.Domain + " is taken off the list here. The store is told nothing: the license stays as it is, and so do apps that were built with it.",
			Path:        licensePath(l) + "/forget", Label: "Forget the file", Cancel: licensePath(l),
		},
	})
}

func (p *Pages) forgetLicense(w http.ResponseWriter, r *frame.Request) error {
	l, _, err := p.oneLicense(r)
	if err != nil {
		return err
	}
	if err := p.addon.ForgetLicense(r.Context(), r.Actor, l.ID); err != nil {
		return err
	}
	return p.frame.Redirect(w, r, pathLicense, "The file for "+l.Domain+" is forgotten.")
}

// keptCode is a purchase code with the domains of its files.
type keptCode struct {
	addon.PurchaseCode
	domains []string
}

func (c keptCode) path() string {
	return pathLicense + "/codes/" + strconv.FormatInt(c.ID, 10) + "/forget"
}

// keptCodes are all, the newest first.
func keptCodes(known addon.Licenses) (all []keptCode) {
	for _, c := range known.Codes {
		one := keptCode{PurchaseCode: c}
		for _, f := range known.Files {
			if f.Code.ID == c.ID {
				one.domains = append(one.domains, f.Domain)
			}
		}
		all = append(all, one)
	}
	return all
}

func (l licensePage) codeRows() (rows []frame.Row) {
	for _, c := range keptCodes(l.known) {
		files := frame.Muted("none")
		if len(c.domains) > 0 {
			files = frame.Words(strings.Join(c.domains, ", "))
		}
		rows = append(rows, frame.Row{frame.Mono(c.Hint), frame.Mono(c.Store), files, frame.Time(c.KeptAt), frame.LinkButton{Link: frame.Link{Label: "Forget", Path: c.path()}, Context: "the purchase code " + c.Hint}})
	}
	return rows
}

// oneCode finds the kept purchase code that the address names.
func (p *Pages) oneCode(r *frame.Request) (keptCode, error) {
	id, err := number(r, "id")
	if err != nil {
		return keptCode{}, err
	}
	known, err := p.addon.Licenses(r.Context(), r.Actor)
	if err != nil {
		return keptCode{}, err
	}
	for _, c := range keptCodes(known) {
		if c.ID == id {
			return c, nil
		}
	}
	return keptCode{}, fault.NotFound("purchase_code_not_kept", "This purchase code is not kept, or not any more")
}

func (p *Pages) showForgetCode(w http.ResponseWriter, r *frame.Request) error {
	c, err := p.oneCode(r)
	if err != nil {
		return err
	}
	files := ""
	if len(c.domains) > 0 {
		files = ", and its " + count(len(c.domains), "file") + " (" + strings.Join(c.domains, ", ") + ") taken off the list"
	}
	return p.frame.Show(w, r, frame.Page{Title: "Forget the purchase code " + c.Hint, Crumbs: crumbs(licenseCrumb), Body: frame.Confirm{
		Consequence: "The purchase code " + c.Hint + " is deleted here" + files + ". The store is told nothing: the licenses stay as they are, and so do apps that were built with them. To make files with this code again, paste it again.",
		Path:        c.path(), Label: "Forget the code", Cancel: pathLicense,
	}})
}

func (p *Pages) forgetCode(w http.ResponseWriter, r *frame.Request) error {
	c, err := p.oneCode(r)
	if err != nil {
		return err
	}
	if err := p.addon.ForgetCode(r.Context(), r.Actor, c.ID); err != nil {
		return err
	}
	return p.frame.Redirect(w, r, pathLicense, "The purchase code "+c.Hint+" is forgotten.")
}
