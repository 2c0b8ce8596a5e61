package addon

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/license"
)

// maxCode is the longest purchase code, in characters.
const maxCode = 128

// check says what is wrong with an order before anybody is asked, and gives its
// domains, the site's first.
func (o *LicenseOrder) check() ([]license.Domain, error) {
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
		problems["domain"] = sentenceOf(err)
	}
	domains := []license.Domain{d}
	if len(o.Tests) > maxTestDomains {
		problems["tests"] = fmt.Sprintf("That is too much at once: ask for at most %d test domains", maxTestDomains)
	}
	for _, text := range o.Tests {
		test, err := license.ParseDomain(text, rule)
		switch {
		case err != nil:
			problems["tests"] = sentenceOf(err)
		case !license.IsFree(test.Name):
			problems["tests"] = test.Name + " is not a test domain, so a license for it may count. Test domains are localhost, names that end in .test or .local, and private addresses; for a staging host that the seller named, make a file of its own"
		}
		domains = append(domains, test)
	}
	if len(problems) > 0 {
		return nil, badOrder("license_order", problems)
	}
	return domains, nil
}

func checkCode(code string) (problem string) {
	printable := func(r rune) bool { return r > ' ' && r < unicode.MaxASCII }
	switch {
	case code == "":
		return "Paste the purchase code. It is on the receipt"
	case len(code) > maxCode || strings.ContainsFunc(code, func(r rune) bool { return r != ' ' && !printable(r) }):
		return "This is not a purchase code: it is too long, or has characters that no code has. Paste it as it stands on the receipt"
	}
	return ""
}

// badOrder says what is wrong with the fields of an order.
func badOrder(code string, fields map[string]string) *countersign.Error {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		texts = append(texts, fields[name])
	}
	return fault.WithFields(fault.Invalid(code, strings.Join(texts, ". ")), fields)
}

// sentenceOf is the message of an error, begun with a capital letter unless it
// begins with a domain.
func sentenceOf(err error) string {
	text := err.Error()
	if ours := fault.Of(err); ours != nil {
		text = ours.Message
	}
	if word, _, _ := strings.Cut(text, " "); strings.Contains(word, ".") {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// normal is the one form of a domain, without what marks a wildcard.
func normal(domain string) string {
	name, err := license.Normalize(strings.TrimPrefix(domain, "*."))
	if err != nil {
		return domain
	}
	return name
}
