package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/licensing"
)

// order is what a buyer asks for, as it was typed, and what became of it.
type order struct {
	code, domain, tests string
	errs                frame.Errors
	// used are the licenses that could be moved to the domain.
	used []licensing.License
}

func orderOf(in url.Values) order {
	return order{code: strings.TrimSpace(in.Get("code")), domain: strings.TrimSpace(in.Get("domain")), tests: strings.TrimSpace(in.Get("tests"))}
}

// complete reports whether all is there; what is not is said at its field.
func (o *order) complete() bool {
	if o.code == "" {
		o.errs = append(o.errs, frame.FieldError{Name: "code", Text: "Paste the purchase code. It is on your receipt."})
	}
	if o.domain == "" {
		o.errs = append(o.errs, frame.FieldError{Name: "domain", Text: "Type the domain of the site, like shop.example."})
	}
	return len(o.errs) == 0
}

// request is what was typed; the test domains in any way that lists are typed.
func (o *order) request() licensing.Request {
	tests := strings.FieldsFunc(o.tests, func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n", r) })
	return licensing.Request{Code: o.code, Domain: o.domain, Tests: tests}
}

func (p *Pages) orderPage(o order) frame.Page {
	return frame.Page{
		Title: "Get a license file", Bare: true, Wide: true, Body: orderView(o),
		Lead: "The mobile app of a site opens this file when it starts. All it takes is the purchase code and the site's domain.",
	}
}

func (p *Pages) showLicense(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Show(w, r, p.orderPage(order{}))
}

// toLicense leads somebody who loads the address of a form again to the page.
func (p *Pages) toLicense(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Redirect(w, r, PathLicense, "")
}

func (p *Pages) issueLicense(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	o := orderOf(in)
	if !o.complete() {
		return p.refuse(w, r, o, nil)
	}
	var files []licensing.Signed
	err = p.withCode(w, o.code, func() (err error) {
		files, err = p.store.Licensing.IssueAll(r.Context(), buyer(r), p.baseURL, o.request())
		return err
	})
	if err != nil {
		return p.refuse(w, r, o, err)
	}
	return p.showFiles(w, r, o.code, files)
}

// moveLicense gives one domain up for the one that was asked for.
func (p *Pages) moveLicense(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	o := orderOf(in)
	if !o.complete() {
		return p.refuse(w, r, o, nil)
	}
	var files []licensing.Signed
	err = p.withCode(w, o.code, func() (err error) {
		files, err = p.store.Licensing.MoveAll(r.Context(), buyer(r), p.baseURL, in.Get("from"), o.request())
		return err
	})
	if err != nil {
		return p.refuse(w, r, o, err)
	}
	return p.showFiles(w, r, o.code, files)
}

// withCode calls do, which finds a purchase by a code, within the limits. No key comes
// to a page, so whoever has had too many failures is refused.
func (p *Pages) withCode(w http.ResponseWriter, code string, do func() error) error {
	return p.guard.Call(w, false, func(bool) error {
		if err := p.guard.TakeCode(w, "issue", code); err != nil {
			return err
		}
		return do()
	})
}

func (p *Pages) showFiles(w http.ResponseWriter, r *frame.Request, code string, files []licensing.Signed) error {
	title := "Your license file"
	if len(files) > 1 {
		title = "Your license files"
	}
	return p.frame.Show(w, r, frame.Page{Title: title, Bare: true, Wide: true, Body: filesView(code, files, p.frame.Now())})
}

// refuse shows the form again because of err; nil is an answer that was missing.
func (p *Pages) refuse(w http.ResponseWriter, r *frame.Request, o order, err error) error {
	page := func(status int) error {
		shown := p.orderPage(o)
		shown.Status = status
		return p.frame.Show(w, r, shown)
	}
	if err == nil {
		return page(http.StatusUnprocessableEntity)
	}
	refusal := fault.Of(err)
	if refusal == nil || refusal.Kind == countersign.KindUnavailable {
		return fault.Public(err)
	}
	if refusal.Code == countersign.CodeLimitReached {
		o.used, err = p.movable(r, o.code, refusal)
		switch {
		case err != nil:
			return fault.Public(err)
		case len(o.used) > 0:
			return page(http.StatusConflict)
		}
	}
	if o.errs = explain(refusal, p.frame.Now()); o.errs == nil {
		return refusal
	}
	if refusal.Kind == countersign.KindNotFound { // the page is there; the code is what is wrong
		return page(http.StatusUnprocessableEntity)
	}
	return page(frame.FormStatus(refusal))
}

// movable finds the licenses that stand in the way of another one and can be moved:
// those of test domains are free and stay.
func (p *Pages) movable(r *frame.Request, code string, refusal *countersign.Error) ([]licensing.License, error) {
	in, _ := refusal.Data.(countersign.LicenseDomains)
	all, err := p.store.Licensing.InUse(r.Context(), buyer(r), code)
	return slices.DeleteFunc(all, func(l licensing.License) bool { return l.Free || !slices.Contains(in.Domains, shown(l)) }), err
}

// explain says by its cause why nothing was issued, at the field that it is about;
// nil is a fault that is no business of the form.
func explain(refusal *countersign.Error, now time.Time) frame.Errors {
	at := func(name, text string) frame.Errors { return frame.Errors{{Name: name, Text: text}} }
	if text := refusal.Fields["tests"]; text != "" {
		return at("tests", sentence(text))
	}
	switch refusal.Code {
	case countersign.CodePurchaseNotFound:
		return at("code", "This purchase code is not good here. Compare it with your receipt, sign by sign; if it is the same, ask the seller.")
	case countersign.CodeMovesUsed, countersign.CodeMoveTooSoon:
		text := sentence(refusal.Message)
		if refusal.RetryAfter > 0 {
			text += " The next time is after " + moment(now.Add(refusal.RetryAfter)) + "."
		}
		return at("domain", text)
	case countersign.CodeDomainInvalid, countersign.CodeLimitReached, countersign.CodeDomainNotActivated, countersign.CodeDomainFree, countersign.CodeFromMissing:
		return at("domain", sentence(refusal.Message))
	}
	errs, _ := frame.FormErrors(refusal)
	return errs
}

func buyer(r *frame.Request) people.Actor { return people.Buyer(people.FacePage, r.From.Addr) }

// shown is a license's domain as it was asked for.
func shown(l licensing.License) string {
	if l.Wildcard {
		return "*." + l.Domain
	}
	return l.Domain
}

// fileName is what a license file is saved as.
func fileName(l licensing.Signed) string { return "license-" + l.Domain + ".jwt" }

// facts says what a license is for, whose item it is of, and until when.
func facts(l licensing.Signed, now time.Time) frame.Facts {
	domain := shown(l.License)
	if l.Wildcard {
		domain += ", " + l.Domain
	}
	return frame.Facts{
		{Label: "For the site", Value: frame.Mono(domain)},
		{Label: "Item", Value: frame.Words(l.ItemName + " (" + strconv.FormatInt(l.ItemID, 10) + ")")},
		{Label: "License", Value: frame.Words(l.Purchase.License)},
		{Label: "Sold by", Value: frame.Words(l.Workspace)},
		{Label: "Good until", Value: frame.Words("It does not run out")},
		{Label: "Support", Value: frame.Words(support(l, now))},
	}
}

func support(l licensing.Signed, now time.Time) string {
	switch until := l.SupportedUntil; {
	case !l.Support || until.IsZero():
		return "Not included"
	case now.After(until.Time):
		return "Ended on " + day(until.Time)
	default:
		return "Until " + day(until.Time)
	}
}

// moveRule says how often a license may be moved.
func moveRule(l licensing.License) string {
	rule := "The seller allows " + strconv.Itoa(l.Licensing.MovesAYear) + " moves in a year"
	if l.Licensing.MovesAYear == 1 {
		rule = "The seller allows one move in a year"
	}
	if hours := l.Licensing.MoveWaitHours; hours > 0 {
		rule += ", " + strconv.Itoa(hours) + " hours apart"
	}
	return rule + "."
}

// day is a date inside a sentence.
func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// moment is a time inside a sentence.
func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04") + " UTC" }

// sentence ends a text with a full stop, where it has no end yet.
func sentence(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".?!:") {
		return text
	}
	return text + "."
}
