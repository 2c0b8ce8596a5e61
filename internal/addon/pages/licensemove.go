package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// move is what the page for moving a license asks.
type move struct {
	kept               int64
	hint, from, domain string
	errs               frame.Errors
}

// moveOf finds what is to be moved; the file in use when that is not said.
func (p *Pages) moveOf(r *frame.Request, in url.Values) (move, error) {
	m := move{from: strings.TrimSpace(in.Get("from")), domain: strings.TrimSpace(in.Get("domain"))}
	m.kept, _ = strconv.ParseInt(in.Get("kept"), 10, 64) // anything else is no code
	known, err := p.addon.Licenses(r.Context(), r.Actor)
	if err != nil {
		return m, err
	}
	for _, f := range known.Files {
		if m.from == "" && f.Good() && !f.Free() {
			m.from, m.kept = f.Domain, f.Code.ID
		}
	}
	for _, c := range known.Codes {
		if c.ID == m.kept && m.from != "" {
			m.hint = c.Hint
			return m, nil
		}
	}
	return m, fault.NotFound("license_not_found", "No such license to move. The license files page lists all of them")
}

func (p *Pages) showMove(w http.ResponseWriter, r *frame.Request) error {
	m, err := p.moveOf(r, r.URL.Query())
	if err != nil {
		return err
	}
	if m.domain == "" {
		m.domain = p.host(w, r)
	}
	return p.frame.Show(w, r, movePage(m))
}

func movePage(m move) frame.Page {
	return frame.Page{Title: "Move the license of " + m.from, Crumbs: crumbs(licenseCrumb), Body: frame.Confirm{
		Consequence: "The license of " + m.from + " (purchase code " + m.hint + ") ends, and one for the new domain replaces it. Apps that were built with the old file may stop. The store allows a few moves a year, by default at least 24 hours apart.",
		Path:        pathLicense + "/move", Label: "Move the license", Cancel: pathLicense, Errors: m.errs, Failed: "Nothing was moved.", Safe: true,
		Fields: []frame.Field{
			{Name: "kept", Kind: frame.Hidden, Value: strconv.FormatInt(m.kept, 10)},
			{Name: "from", Kind: frame.Hidden, Value: m.from},
			{Name: "domain", Label: "New domain", Value: m.domain, Required: true, Error: m.errs.Of("domain"), Example: "shop.example"},
		},
	}}
}

func (p *Pages) moveLicense(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	m, err := p.moveOf(r, in)
	if err != nil {
		return err
	}
	return p.frame.Submit(w, r, frame.Form{
		Do: func(url.Values) error {
			l, err := p.addon.MoveLicense(r.Context(), r.Actor, m.kept, m.from, m.domain)
			if err != nil {
				return err
			}
			return p.frame.Redirect(w, r, licensePath(l), "The license was moved from "+m.from+" to "+l.Domain+".")
		},
		Explain: p.explainLicense,
		Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
			for i := range wrong {
				if wrong[i].Name != "domain" {
					wrong[i].Name = "" // the page has no field for it
				}
			}
			m.errs = wrong
			return movePage(m), nil
		},
	})
}
