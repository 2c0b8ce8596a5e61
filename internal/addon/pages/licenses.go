package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// licenseForm is what the form for a license file shows, as it was typed; the
// purchase code alone is never shown again.
type licenseForm struct {
	store, domain, tests string
	// savedCode is the id of the kept purchase code that is chosen, 0 for another one.
	savedCode int64
	errs      frame.Errors
	// used are the licenses in use that could be moved to the domain.
	used []countersign.LicenseInUse
	// made are the files that were made before another domain was refused.
	made []license.License
}

// failed describes what was not done.
func (f licenseForm) failed() string {
	if len(f.made) == 0 {
		return "No file was created."
	}
	var made []string
	for _, l := range f.made {
		made = append(made, l.Domain)
	}
	left := append([]string{f.domain}, frame.Listed(f.tests)...)[len(made):]
	begin := "The file for " + made[0] + " was created"
	if len(made) > 1 {
		begin = "The files for " + strings.Join(made, ", ") + " were created"
	}
	return begin + "; no file for " + strings.Join(left, ", ") + "."
}

// licensePage is all that the page shows.
type licensePage struct {
	known license.Licenses
	form  licenseForm
	// host is the site's own, by which it was asked for.
	host string
}

// host is the site's own, without a port.
func (p *Pages) host(w http.ResponseWriter, r *frame.Request) string {
	at, err := url.Parse(p.address(w, r, ""))
	if err != nil {
		return ""
	}
	return at.Hostname()
}

func (p *Pages) showLicenses(w http.ResponseWriter, r *frame.Request) error {
	known, err := p.addon.Licenses.List(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	host := p.host(w, r)
	f := licenseForm{store: known.Store, domain: host}
	if f.store == "" && len(known.Codes) > 0 {
		f.store = known.Codes[0].Store // which has not answered yet
	}
	for _, c := range slices.Backward(known.Codes) {
		if c.Store == f.store {
			f.savedCode = c.ID
		}
	}
	return p.frame.Show(w, r, licensesPage(licensePage{known, f, host}))
}

func licensesPage(l licensePage) frame.Page {
	return frame.Page{Title: "License file", Crumbs: crumbs(), Body: licensesView(l),
		Lead: "Your mobile app verifies this file when it starts. It ties your purchase to your site's domain."}
}

func (p *Pages) makeLicense(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	f := licenseForm{store: in.Get("store"), domain: in.Get("domain"), tests: in.Get("tests")}
	f.savedCode, _ = strconv.ParseInt(in.Get("kept"), 10, 64) // anything else is another code
	if strings.TrimSpace(in.Get("code")) != "" {
		f.savedCode = 0
	}
	return p.frame.Submit(w, r, frame.Form{
		Do: func(url.Values) error {
			made, err := p.addon.Licenses.Make(r.Context(), r.Actor, license.Order{
				Store: f.store, Code: in.Get("code"), Kept: f.savedCode, Domain: f.domain, Tests: frame.Listed(f.tests),
			})
			if err != nil {
				f.made, f.used = made, movable(err)
				return err
			}
			text := "The license file for " + made[0].Domain + " is here."
			if len(made) > 1 {
				text += " Files for test domains are in the license list."
			}
			return p.frame.Redirect(w, r, licensePath(made[0]), text)
		},
		Explain: p.explainLicense,
		Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.refusedLicense(w, r, f, in.Get("code"), wrong)
		},
	})
}

// refusedLicense is the form again, with why. A code that was typed is kept by
// now, unless the store does not know it, and then it is the one that is chosen.
func (p *Pages) refusedLicense(w http.ResponseWriter, r *frame.Request, f licenseForm, entered string, wrong frame.Errors) (frame.Page, error) {
	known, err := p.addon.Licenses.List(r.Context(), r.Actor)
	if err != nil {
		return frame.Page{}, err
	}
	if f.savedCode == 0 && wrong.Of("code") == "" {
		f.savedCode = known.Kept(entered, f.store)
	}
	if len(f.made) > 0 {
		f.errs, f.used = aboutTests(wrong), nil
	} else if len(f.used) == 0 { // else the offer to move says it all
		f.errs = wrong
	}
	return licensesPage(licensePage{known, f, p.host(w, r)}), nil
}

// aboutTests takes what was said of the domain, which has its file, for its test
// domains.
func aboutTests(errs frame.Errors) frame.Errors {
	for i := range errs {
		if errs[i].Name == "domain" {
			errs[i].Name = "tests"
		}
	}
	return errs
}

// explainLicense says at its field why the store issued or moved no license.
func (p *Pages) explainLicense(refused error) (frame.Errors, bool) {
	return frame.LicenseErrors(refused, p.frame.Now())
}

// movable are the licenses that stand in the way of another one and can be moved:
// those of test domains are free and stay.
func movable(err error) []countersign.LicenseInUse {
	if !fault.HasCode(err, countersign.CodeLimitReached) {
		return nil
	}
	in, _ := fault.Of(err).Data.(countersign.LicenseDomains)
	return slices.DeleteFunc(in.Licenses, func(l countersign.LicenseInUse) bool {
		return license.License{Domain: strings.TrimPrefix(l.Domain, "*.")}.Free()
	})
}

// oneLicense is what the page of a license file shows.
type oneLicense struct {
	license.License
	text, host string
	now        time.Time
	errs       frame.Errors
}

// findLicense finds the license that the address names.
func (p *Pages) findLicense(r *frame.Request) (l oneLicense, err error) {
	id, err := number(r, "id")
	if err == nil {
		l.License, l.text, err = p.addon.Licenses.Find(r.Context(), r.Actor, id)
	}
	return l, err
}

func (p *Pages) showLicense(w http.ResponseWriter, r *frame.Request, l oneLicense) error {
	return p.frame.Show(w, r, p.oneLicensePage(w, r, l))
}

func (p *Pages) oneLicensePage(w http.ResponseWriter, r *frame.Request, l oneLicense) frame.Page {
	l.host, l.now = p.host(w, r), p.frame.Now()
	return frame.Page{Title: "License file for " + l.Domain, Crumbs: crumbs(licenseCrumb), Body: licenseView(l)}
}

// downloadLicense sends the file.
func (p *Pages) downloadLicense(w http.ResponseWriter, _ *frame.Request, l oneLicense) error {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+frame.LicenseFileName(l.Domain)+`"`)
	h.Set("Content-Length", strconv.Itoa(len(l.text)))
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(l.text)) // a client that has left is nobody to tell
	return nil
}

// checkLicense asks the store whether the file is still good.
func (p *Pages) checkLicense(w http.ResponseWriter, r *frame.Request, l oneLicense) error {
	return p.frame.Submit(w, r, frame.Form{
		Do: func(url.Values) error {
			checked, err := p.addon.Licenses.Check(r.Context(), r.Actor, l.ID)
			if err != nil {
				return err
			}
			return p.frame.Redirect(w, r, licensePath(l.License), "The store says: "+answerWords(checked.Answer)+".")
		},
		Explain: p.explainLicense,
		Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
			l.errs = wrong
			return p.oneLicensePage(w, r, l), nil
		},
	})
}

// codeChoices are the purchase codes that can be chosen.
func (l licensePage) codeChoices() []frame.Choice {
	var all []frame.Choice
	for _, c := range l.known.Codes {
		label := c.Hint
		for _, f := range l.known.Files {
			if f.Code.ID == c.ID {
				label += " – " + f.ItemName
				break
			}
		}
		all = append(all, frame.Choice{Value: strconv.FormatInt(c.ID, 10), Label: label + ", for " + c.Store})
	}
	return append(all, frame.Choice{Value: "0", Label: "Another code, typed below"})
}

// misfits are the good files for other hosts, when none is for this one.
func (l licensePage) misfits() (domains []string) {
	for _, f := range l.known.Files {
		if !f.Good() {
			continue
		}
		if f.Opens(l.host) {
			return nil
		}
		domains = append(domains, f.Domain)
	}
	return domains
}

func (l licensePage) rows() (rows []frame.Row) {
	for _, f := range l.known.Files {
		acts := []templ.Component{frame.LinkButton{Link: frame.Link{Label: "Download", Path: licensePath(f) + "/file", Icon: "download"}, Context: "the file for " + f.Domain}}
		if f.Good() && !f.Free() {
			acts = append(acts, frame.LinkButton{Link: frame.Link{Label: "Move", Path: movePath(f.Code.ID, f.Domain, "")}, Kind: frame.Danger, Context: "the license of " + f.Domain})
		}
		if f.Good() {
			acts = append(acts, frame.LinkButton{Link: frame.Link{Label: "Revoke", Path: licensePath(f) + "/revoke"}, Kind: frame.Danger, Context: "the license of " + f.Domain})
		} else {
			acts = append(acts, frame.LinkButton{Link: frame.Link{Label: "Remove", Path: licensePath(f) + "/forget"}, Kind: frame.Danger, Context: "the file for " + f.Domain})
		}
		rows = append(rows, frame.Row{
			frame.Link{Label: f.Domain, Path: licensePath(f)}, licenseBadge(f), frame.Stack(frame.Words(f.ItemName), frame.Muted("Code "+f.Code.Hint)),
			frame.Time(f.MadeAt), frame.Group(acts...),
		})
	}
	return rows
}
