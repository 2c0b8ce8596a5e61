package license

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/license"
)

// maxCode is the longest purchase code, in characters.
const maxCode = 128

// check returns what is wrong with an order before anybody is asked, and gives its
// domains, the site's first.
func (o *Order) check() ([]license.Domain, error) {
	problems := map[string]string{}
	if o.Store = strings.TrimSpace(o.Store); o.Kept == 0 || o.Store != "" {
		var problem string
		if o.Store, problem = checkStore(o.Store); problem != "" {
			problems["store"] = problem
		}
	}
	if o.Code = strings.TrimSpace(o.Code); o.Kept == 0 {
		if problem := checkCode(o.Code); problem != "" {
			problems["code"] = problem
		}
	}
	rule := license.DomainRule{Wildcard: true} // the store knows the item's own
	d, err := license.ParseDomain(o.Domain, rule)
	if err != nil {
		problems["domain"] = fault.Sentence(err)
	}
	domains := []license.Domain{d}
	if len(o.Tests) > maxTestDomains {
		problems["tests"] = fmt.Sprintf("Too many test domains: at most %d in one request", maxTestDomains)
	}
	for _, text := range o.Tests {
		test, err := license.ParseDomain(text, rule)
		switch {
		case err != nil:
			problems["tests"] = fault.Sentence(err)
		case !license.IsFree(test.Name):
			problems["tests"] = test.Name + " is not a test domain, so a license for it may count. Test domains are localhost, names that end in .test or .local, and private addresses. For a staging host that the seller named, create a separate file"
		}
		domains = append(domains, test)
	}
	if len(problems) > 0 {
		return nil, input.Invalid("license_order", problems)
	}
	return domains, nil
}

func checkCode(code string) (problem string) {
	printable := func(r rune) bool { return r > ' ' && r < unicode.MaxASCII }
	switch {
	case code == "":
		return "Paste the purchase code. It is on the receipt"
	case len(code) > maxCode || strings.ContainsFunc(code, func(r rune) bool { return r != ' ' && !printable(r) }):
		return "Invalid purchase code: too long, or with invalid characters. Paste it exactly as on the receipt"
	}
	return ""
}

// normal is the one form of a domain, without what marks a wildcard.
func normal(domain string) string {
	name, err := license.Normalize(strings.TrimPrefix(domain, "*."))
	if err != nil {
		return domain
	}
	return name
}

// Order describes the requested license files.
type Order struct {
	// Store is the store's address. For a kept code it may be empty, and may be no
	// other than the code's own.
	Store string
	// Code is a purchase code; or Kept names one that is kept.
	Code string
	Kept int64
	// Domain of the site.
	Domain string
	// Tests are test domains, which are free; each gets a file of its own.
	Tests []string
}

// maxTestDomains is how many test domains can be asked for beside a domain.
const maxTestDomains = 10
