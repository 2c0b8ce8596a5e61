package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

const pathLicense = "/api-addons/admin/license"

var licenseCrumb = frame.Link{Label: "License file", Path: pathLicense}

// licenseForm is what the form for a license file shows, as it was typed; the
// purchase code alone is never shown again.
type licenseForm struct {
	store, domain, tests string
	// kept is the id of the kept purchase code that is chosen, 0 for another one.
	kept int64
	errs frame.Errors
	// used are the licenses in use that could be moved to the domain.
	used []countersign.LicenseInUse
	// made are the files that were made before another domain was refused.
	made []addon.License
}

// failed says what was not done.
func (f licenseForm) failed() string {
	if len(f.made) == 0 {
		return "No file was made."
	}
	var made []string
	for _, l := range f.made {
		made = append(made, l.Domain)
	}
	left := append([]string{f.domain}, listed(f.tests)...)[len(made):]
	begin := "The file for " + made[0] + " was made"
	if len(made) > 1 {
		begin = "The files for " + strings.Join(made, ", ") + " were made"
	}
	return begin + "; no file for " + strings.Join(left, ", ") + "."
}

// licensePage is all that the page shows.
type licensePage struct {
	known addon.Licenses
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
	known, err := p.addon.Licenses(r.Context(), r.Actor)
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
			f.kept = c.ID
		}
	}
	return p.frame.Show(w, r, licensesPage(licensePage{known, f, host}))
}

func licensesPage(l licensePage) frame.Page {
	return frame.Page{Title: "License file", Crumbs: crumbs(), Body: licensesView(l),
		Lead: "Your mobile app opens this file when it starts. It ties your purchase to the domain of your site."}
}

func (p *Pages) makeLicense(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	f := licenseForm{store: in.Get("store"), domain: in.Get("domain"), tests: in.Get("tests")}
	f.kept, _ = strconv.ParseInt(in.Get("kept"), 10, 64) // anything else is another code
	if strings.TrimSpace(in.Get("code")) != "" {
		f.kept = 0
	}
	made, err := p.addon.MakeLicenses(r.Context(), r.Actor, addon.LicenseOrder{
		Store: f.store, Code: in.Get("code"), Kept: f.kept, Domain: f.domain, Tests: listed(f.tests),
	})
	if err != nil {
		f.made = made
		return p.refuseLicense(w, r, f, in.Get("code"), err)
	}
	text := "The license file for " + made[0].Domain + " is here."
	if len(made) > 1 {
		text += " Those for the test domains are in the list of the page before."
	}
	return p.frame.Redirect(w, r, licensePath(made[0]), text)
}

// refuseLicense shows the form again and says why. A code that was typed is kept by
// now, unless the store does not know it, and then it is the one that is chosen.
func (p *Pages) refuseLicense(w http.ResponseWriter, r *frame.Request, f licenseForm, typed string, refusal error) error {
	errs, ok := licenseErrors(refusal, p.frame.Now())
	if !ok {
		return refusal
	}
	known, err := p.addon.Licenses(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	f.errs = errs
	if f.kept == 0 && errs.Of("code") == "" {
		f.kept = known.Kept(typed, f.store)
	}
	if len(f.made) > 0 {
		f.errs = aboutTests(f.errs)
	} else if f.used = movable(refusal); len(f.used) > 0 {
		f.errs = nil // the offer to move says it all
	}
	return p.refuse(w, r, licensesPage(licensePage{known, f, p.host(w, r)}), refusal)
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

// licenseErrors says why the store gave no license.
func licenseErrors(err error, now time.Time) (frame.Errors, bool) {
	said := fault.Of(err)
	if said == nil {
		return nil, false
	}
	switch said.Code {
	case "store_unreachable":
		return frame.Errors{{Name: "store", Text: sentence(said.Message)}}, true
	case countersign.CodeMovesUsed, countersign.CodeMoveTooSoon:
		text := sentence(said.Message)
		if said.RetryAfter > 0 {
			text += " The next time is after " + moment(now.Add(said.RetryAfter)) + "."
		}
		return frame.Errors{{Name: "domain", Text: text}}, true
	case countersign.CodeLimitReached, countersign.CodeDomainNotActivated:
		return frame.Errors{{Name: "domain", Text: sentence(said.Message)}}, true
	}
	errs, ok := frame.FormErrors(err, "code", "domain", "tests", "store")
	for i := range errs {
		errs[i].Text = sentence(errs[i].Text)
	}
	return errs, ok
}

// movable are the licenses that stand in the way of another one and can be moved:
// those of test domains are free and stay.
func movable(err error) []countersign.LicenseInUse {
	if !fault.HasCode(err, countersign.CodeLimitReached) {
		return nil
	}
	in, _ := fault.Of(err).Data.(countersign.LicenseDomains)
	return slices.DeleteFunc(in.Licenses, func(l countersign.LicenseInUse) bool {
		return addon.License{Domain: strings.TrimPrefix(l.Domain, "*.")}.Free()
	})
}

// oneLicense finds the license that the address names.
func (p *Pages) oneLicense(r *frame.Request) (addon.License, string, error) {
	id, err := number(r, "id")
	if err != nil {
		return addon.License{}, "", err
	}
	return p.addon.License(r.Context(), r.Actor, id)
}

func (p *Pages) showLicense(w http.ResponseWriter, r *frame.Request) error {
	l, text, err := p.oneLicense(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.oneLicensePage(w, r, oneLicense{License: l, text: text}))
}

// oneLicense is what the page of a license file shows.
type oneLicense struct {
	addon.License
	text, host string
	now        time.Time
	errs       frame.Errors
}

func (p *Pages) oneLicensePage(w http.ResponseWriter, r *frame.Request, l oneLicense) frame.Page {
	l.host, l.now = p.host(w, r), p.frame.Now()
	return frame.Page{Title: "License file for " + l.Domain, Crumbs: crumbs(licenseCrumb), Body: licenseView(l)}
}

// downloadLicense sends the file.
func (p *Pages) downloadLicense(w http.ResponseWriter, r *frame.Request) error {
	l, text, err := p.oneLicense(r)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+fileName(l)+`"`)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(text)) // a client that has left is nobody to tell
	return nil
}

// checkLicense asks the store whether the file is still good.
func (p *Pages) checkLicense(w http.ResponseWriter, r *frame.Request) error {
	l, text, err := p.oneLicense(r)
	if err != nil {
		return err
	}
	checked, err := p.addon.CheckLicense(r.Context(), r.Actor, l.ID)
	if errs, ok := licenseErrors(err, p.frame.Now()); ok {
		for i := range errs {
			errs[i].Name = "" // the page has no field for it
		}
		return p.refuse(w, r, p.oneLicensePage(w, r, oneLicense{License: l, text: text, errs: errs}), err)
	}
	if err != nil {
		return err
	}
	return p.frame.Redirect(w, r, licensePath(l), "The store says: "+answerWords(checked.Answer)+".")
}

func licensePath(l addon.License) string { return pathLicense + "/" + strconv.FormatInt(l.ID, 10) }

// fileName is what a license file is saved as.
func fileName(l addon.License) string { return "license-" + l.Domain + ".jwt" }

// listed reads a list in any way that lists are typed.
func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n", r) })
}
