package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// savedCode is a purchase code with the domains of its files.
type savedCode struct {
	license.PurchaseCode
	domains []string
}

func (c savedCode) path() string {
	return pathLicense + "/codes/" + strconv.FormatInt(c.ID, 10) + "/forget"
}

// savedCodes are all, the newest first.
func savedCodes(known license.Licenses) (all []savedCode) {
	for _, c := range known.Codes {
		one := savedCode{PurchaseCode: c}
		for _, f := range known.Files {
			if f.Code.ID == c.ID {
				one.domains = append(one.domains, f.Domain)
			}
		}
		all = append(all, one)
	}
	return all
}

// codeRows is the table of kept purchase codes.
func codeRows(known license.Licenses) (rows []frame.Row) {
	for _, c := range savedCodes(known) {
		files := frame.Muted("none")
		if len(c.domains) > 0 {
			files = frame.Words(strings.Join(c.domains, ", "))
		}
		rows = append(rows, frame.Row{frame.Mono(c.Hint), frame.Mono(c.Store), files, frame.Time(c.KeptAt), frame.LinkButton{Link: frame.Link{Label: "Delete", Path: c.path()}, Context: "the purchase code " + c.Hint, Kind: frame.Danger}})
	}
	return rows
}

// oneCode finds the kept purchase code that the address names.
func (p *Pages) oneCode(r *frame.Request) (savedCode, error) {
	id, err := number(r, "id")
	if err != nil {
		return savedCode{}, err
	}
	known, err := p.addon.Licenses.List(r.Context(), r.Actor)
	if err != nil {
		return savedCode{}, err
	}
	for _, c := range savedCodes(known) {
		if c.ID == id {
			return c, nil
		}
	}
	return savedCode{}, fault.NotFound("purchase_code_not_kept", "This purchase code is not stored")
}

func (p *Pages) forgetCode(w http.ResponseWriter, r *frame.Request, c savedCode) error {
	files := ""
	if len(c.domains) > 0 {
		files = ", and its " + frame.Count(len(c.domains), "file") + " (" + strings.Join(c.domains, ", ") + ") removed from the list"
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Delete the purchase code " + c.Hint, Crumbs: crumbs(licenseCrumb),
		Consequence: "The purchase code " + c.Hint + " is deleted here" + files + ". The store is not contacted: the licenses stay valid, also in apps that were built with them. To create files with this code again, paste it again.",
		Path:        c.path(), Label: "Delete the code", Cancel: pathLicense,
		Form: frame.Form{Do: func(url.Values) error {
			if err := p.addon.Licenses.ForgetCode(r.Context(), r.Actor, c.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, pathLicense, "The purchase code "+c.Hint+" was deleted.")
		}},
	})
}
