package frame

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// LicenseForm is the form for license files, as the store's page and the addon's
// show it.
type LicenseForm struct {
	// Form is how it looks. The fields are code, domain and tests.
	Form FormView
	// Code are the fields for the purchase code, the first of the form.
	Code []Field
	// Domain and Tests were typed; Site is how the page calls the buyer's site, for
	// example "your site".
	Domain, Tests, Site string
	// More are the fields behind the domains.
	More []Field
}

func (f LicenseForm) fields() []Field {
	return append(append(f.Code,
		Field{Name: "domain", Label: "Domain of the site", Value: f.Domain, Required: true, Error: f.Form.Errors.Of("domain"),
			Help: "The domain of " + f.Site + ". www. makes no difference.", Example: "shop.example"},
		Field{Name: "tests", Label: "Also these test domains (optional)", Value: f.Tests, Error: f.Form.Errors.Of("tests"),
			Help: "Free. Each domain gets its own file.", Example: "localhost shop.test"},
	), f.More...)
}

// LicensedDomain is a domain that a license could be moved away from.
type LicensedDomain struct {
	Domain string
	Since  time.Time
	// Move leads to the move, or does it.
	Move templ.Component
}

// LicenseFacts returns what a license is for: its domains, whose item it is of, its
// type, the facts between, and until when. supported is zero without support.
func LicenseFacts(domains, item string, itemID int64, kind string, supported, now time.Time, between ...Fact) Facts {
	facts := append(Facts{
		{Label: "For the site", Value: Mono(domains)},
		{Label: "Item", Value: Words(item + " (" + strconv.FormatInt(itemID, 10) + ")")},
		{Label: "License", Value: Words(kind)},
	}, between...)
	support := "Until " + Moment(supported)
	switch {
	case supported.IsZero():
		support = "Not included"
	case now.After(supported):
		support = "Ended on " + Moment(supported)
	}
	return append(facts, Fact{Label: "Valid until", Value: Words("No expiry")}, Fact{Label: "Support", Value: Words(support)})
}

// LicenseFileName is what the license file of a domain is saved as.
func LicenseFileName(domain string) string { return "license-" + domain + ".jwt" }

// Listed reads a list in any way that people type one.
func Listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n", r) })
}

// LicenseErrors says at which field of a [LicenseForm] it is that a store issued or
// moved no license. It reports false for an error that does not belong to the form.
func LicenseErrors(refused error, now time.Time) (Errors, bool) {
	said := fault.Of(refused)
	if said == nil {
		return nil, false
	}
	field, text := "", Sentence(said.Message)
	switch said.Code {
	case "store_unreachable":
		field = "store"
	case countersign.CodeMovesUsed, countersign.CodeMoveTooSoon:
		field = "domain"
		if said.RetryAfter > 0 {
			text += " The next time is after " + Moment(now.Add(said.RetryAfter)) + "."
		}
	case countersign.CodeDomainInvalid, countersign.CodeLimitReached, countersign.CodeDomainNotActivated, countersign.CodeDomainFree, countersign.CodeFromMissing:
		if said.Fields == nil {
			field = "domain"
		}
	}
	if field == "" {
		return FormErrors(refused, "code", "domain", "tests", "store")
	}
	return Errors{{Name: field, Text: text}}, true
}
