package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// move is what the page for moving a license asks.
type move struct {
	savedCode          int64
	hint, from, domain string
}

// moveOf finds what is to be moved; the file in use when that is not said.
func (p *Pages) moveOf(r *frame.Request, in url.Values) (move, error) {
	m := move{from: strings.TrimSpace(in.Get("from")), domain: strings.TrimSpace(in.Get("domain"))}
	m.savedCode, _ = strconv.ParseInt(in.Get("kept"), 10, 64) // anything else is not a code
	known, err := p.addon.Licenses.List(r.Context(), r.Actor)
	if err != nil {
		return m, err
	}
	for _, f := range known.Files {
		if m.from == "" && f.Good() && !f.Free() {
			m.from, m.savedCode = f.Domain, f.Code.ID
		}
	}
	for _, c := range known.Codes {
		if c.ID == m.savedCode && m.from != "" {
			m.hint = c.Hint
			return m, nil
		}
	}
	return m, fault.NotFound("license_not_found", "No such license to move. The license files page lists all of them")
}

func (p *Pages) moveLicense(w http.ResponseWriter, r *frame.Request) error {
	if _, err := r.PostValues(); err != nil {
		return err
	}
	m, err := p.moveOf(r, r.Form)
	if err != nil {
		return err
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Move the license of " + m.from, Crumbs: crumbs(licenseCrumb),
		Consequence: "The license of " + m.from + " (purchase code " + m.hint + ") ends, and one for the new domain replaces it. Apps that were built with the old file may stop. The store allows a few moves a year, by default at least 24 hours apart.",
		Path:        pathLicense + "/move", Label: "Move the license", Cancel: pathLicense, Failed: "Nothing was moved.",
		Fields: []frame.Field{
			{Name: "kept", Kind: frame.Hidden, Value: strconv.FormatInt(m.savedCode, 10)},
			{Name: "from", Kind: frame.Hidden, Value: m.from},
			{Name: "domain", Label: "New domain", Value: cmp.Or(m.domain, p.host(w, r)), Required: true, Example: "shop.example"},
		},
		Form: frame.Form{
			Do: func(url.Values) error {
				l, err := p.addon.Licenses.Move(r.Context(), r.Actor, m.savedCode, m.from, m.domain)
				if err != nil {
					return err
				}
				return p.frame.Redirect(w, r, licensePath(l), "The license was moved from "+m.from+" to "+l.Domain+".")
			},
			Explain: p.explainLicense,
		},
	})
}
