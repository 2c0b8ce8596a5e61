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
	return frame.Page{Title: "Move the license of " + m.from, Crumbs: crumbs(licenseCrumb), Body: moveView(m)}
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
	l, err := p.addon.MoveLicense(r.Context(), r.Actor, m.kept, m.from, m.domain)
	if err == nil {
		return p.frame.Redirect(w, r, licensePath(l), "The license was moved from "+m.from+" to "+l.Domain+".")
	}
	errs, ok := licenseErrors(err, p.frame.Now())
	if !ok {
		return err
	}
	for i := range errs {
		if errs[i].Name != "domain" {
			errs[i].Name = ""
		}
	}
	m.errs = errs
	return p.refuse(w, r, movePage(m), err)
}

// movePath leads to the page on which a domain is given up for another one; to may
// be empty.
func movePath(kept int64, from, to string) string {
	query := url.Values{"kept": {strconv.FormatInt(kept, 10)}, "from": {from}}
	if to != "" {
		query.Set("domain", to)
	}
	return pathLicense + "/move?" + query.Encode()
}
