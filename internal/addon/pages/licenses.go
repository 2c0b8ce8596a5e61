package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
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
	// used are the domains in use that could be moved to the domain.
	used []string
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
	if len(known.Codes) > 0 {
		f.kept = known.Codes[0].ID
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
		return p.refuseLicense(w, r, f, err)
	}
	text := "The license file for " + made[0].Domain + " is here."
	if len(made) > 1 {
		text += " Those for the test domains are in the list of the page before."
	}
	return p.frame.Redirect(w, r, licensePath(made[0]), text)
}

// refuseLicense shows the form again and says why. A code that was typed is kept by
// now, unless the store does not know it.
func (p *Pages) refuseLicense(w http.ResponseWriter, r *frame.Request, f licenseForm, refusal error) error {
	errs, ok := licenseErrors(refusal, p.frame.Now())
	if !ok {
		return refusal
	}
	known, err := p.addon.Licenses(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	f.errs = errs
	if f.kept == 0 && len(known.Codes) > 0 && errs.Of("code") == "" {
		f.kept = known.Codes[0].ID
	}
	if f.used = movable(refusal); len(f.used) > 0 {
		f.errs = nil // the offer to move says it all
	}
	return p.refuse(w, r, licensesPage(licensePage{known, f, p.host(w, r)}), refusal)
}

// licenseErrors says why the store gave no license.
func licenseErrors(err error, now time.Time) (frame.Errors, bool) {
	said := refusal(err)
	if said == nil {
		return nil, false
	}
	switch said.Code {
	case "store_unreachable":
		return frame.Errors{{Name: "store", Text: sentence(said.Message)}}, true
	case countersign.CodeMovesUsed:
		text := sentence(said.Message)
		if said.RetryAfter > 0 {
			text += " The next time is after " + moment(now.Add(said.RetryAfter)) + "."
		}
		return frame.Errors{{Name: "domain", Text: text}}, true
	case countersign.CodeLimitReached, countersign.CodeMoveTooSoon, countersign.CodeDomainNotActivated:
		return frame.Errors{{Name: "domain", Text: sentence(said.Message)}}, true
	}
	errs, ok := frame.FormErrors(err, "code", "domain", "tests", "store")
	for i := range errs {
		errs[i].Text = sentence(errs[i].Text)
	}
	return errs, ok
}

// movable are the domains that stand in the way of another one.
func movable(err error) []string {
	if !hasCode(err, countersign.CodeLimitReached) {
		return nil
	}
	in, _ := refusal(err).Data.(countersign.LicenseDomains)
	return in.Domains
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
	known, err := p.addon.Licenses(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.oneLicensePage(w, r, oneLicense{License: l, text: text, store: known.Store}))
}

// oneLicense is what the page of a license file shows.
type oneLicense struct {
	addon.License
	text, store, host string
	now               time.Time
	errs              frame.Errors
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
		known, broken := p.addon.Licenses(r.Context(), r.Actor)
		if broken != nil {
			return broken
		}
		return p.refuse(w, r, p.oneLicensePage(w, r, oneLicense{License: l, text: text, store: known.Store, errs: errs}), err)
	}
	if err != nil {
		return err
	}
	return p.frame.Redirect(w, r, licensePath(l), "The store says: "+answerWords(checked.Answer)+".")
}

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
	return m, &countersign.Error{Kind: countersign.KindNotFound, Code: "license_not_found", Message: "There is no such license to move. The page of license files has those that are there"}
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

func licensePath(l addon.License) string { return pathLicense + "/" + strconv.FormatInt(l.ID, 10) }

// movePath leads to the page on which a domain is given up for another one; to may
// be empty.
func movePath(kept int64, from, to string) string {
	query := url.Values{"kept": {strconv.FormatInt(kept, 10)}, "from": {from}}
	if to != "" {
		query.Set("domain", to)
	}
	return pathLicense + "/move?" + query.Encode()
}

// fileName is what a license file is saved as.
func fileName(l addon.License) string { return "license-" + l.Domain + ".jwt" }

// listed reads a list in any way that lists are typed.
func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n", r) })
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
		all = append(all, frame.Choice{Value: strconv.FormatInt(c.ID, 10), Label: label})
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

// since says from when a domain is in use, as far as is known here.
func (l licensePage) since(domain string) string {
	for _, f := range l.known.Files {
		if f.Code.ID == l.form.kept && f.Domain == strings.TrimPrefix(domain, "*.") {
			return ", since " + day(f.IssuedAt)
		}
	}
	return ""
}

func (l licensePage) rows() (rows []frame.Row) {
	for _, f := range l.known.Files {
		acts := []templ.Component{frame.LinkButton{Link: frame.Link{Label: "Download", Path: licensePath(f) + "/file", Icon: "download"}}}
		if f.Good() && !f.Free() {
			acts = append(acts, frame.LinkButton{Link: frame.Link{Label: "Move", Path: movePath(f.Code.ID, f.Domain, "")}})
		}
		rows = append(rows, frame.Row{
			frame.Link{Label: f.Domain, Path: licensePath(f)}, licenseBadge(f), frame.Stack(frame.Words(f.ItemName), frame.Muted("Code "+f.Code.Hint)),
			frame.Time(f.MadeAt), frame.Group(acts...),
		})
	}
	return rows
}

// licenseBadge says in a word what is known of a file.
func licenseBadge(l addon.License) frame.Badge {
	switch {
	case !l.MovedAt.IsZero():
		return frame.Badge{Text: "Moved away"}
	case !l.Good():
		return frame.Badge{Text: "Not good any more", Kind: frame.Danger}
	case l.Free():
		return frame.Badge{Text: "For tests", Kind: frame.Note}
	}
	return frame.Badge{Text: "In use", Kind: frame.Good}
}

// answerWords is what the store said, for people.
func answerWords(code string) string {
	switch code {
	case countersign.CheckValid:
		return "the license is good"
	case countersign.CheckSupportLapsed:
		return "the license is good; support has ended"
	case countersign.CheckNotFound:
		return "the license is not good any more: it was moved or revoked, or the purchase was refunded"
	case countersign.CheckRefunded:
		return "the purchase was refunded"
	case countersign.CheckChargedBack:
		return "the payment was taken back"
	case countersign.CheckRevoked:
		return "the license was revoked, or moved to another domain"
	case countersign.CheckDomainMismatch:
		return "the license is for another domain"
	}
	return "the license is not good (" + code + ")"
}

// licenseFacts says what a license is for, whose item it is of, and until when.
func licenseFacts(l addon.License, now time.Time) frame.Facts {
	facts := frame.Facts{
		{Label: "For the site", Value: frame.Mono(strings.Join(l.Domains, ", "))},
		{Label: "Item", Value: frame.Words(l.ItemName + " (" + strconv.FormatInt(l.ItemID, 10) + ")")},
		{Label: "License", Value: frame.Words(l.LicenseType)},
		{Label: "Purchase code", Value: frame.Mono(l.Code.Hint)},
		{Label: "Good until", Value: frame.Words("It does not run out")},
		{Label: "Support", Value: frame.Words(supportWords(l.SupportedUntil, now))},
		{Label: "State", Value: licenseBadge(l)},
	}
	if !l.MovedAt.IsZero() {
		facts = append(facts, frame.Fact{Label: "Moved away", Value: frame.Time(l.MovedAt)})
	}
	if !l.CheckedAt.IsZero() {
		facts = append(facts, frame.Fact{Label: "The store said", Value: frame.Stack(frame.Words(answerWords(l.Answer)), frame.Time(l.CheckedAt))})
	}
	return facts
}

func supportWords(until, now time.Time) string {
	switch {
	case until.IsZero():
		return "Not included"
	case now.After(until):
		return "Ended on " + day(until)
	}
	return "Until " + day(until)
}

// day is a date inside a sentence.
func day(t time.Time) string { return t.UTC().Format("2 January 2006") }
