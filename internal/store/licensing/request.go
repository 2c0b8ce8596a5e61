package licensing

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/license"
)

// maxTestDomains is how many test domains can be asked for beside a domain.
const maxTestDomains = 10

// Request describes the requested licenses of a purchase.
type Request struct {
	// Code is the purchase code.
	Code string
	// Domain is that of the site, Tests are test domains beside it.
	Domain string
	Tests  []string
}

// parse reads the domains of a request by the rule of the item, that of the site
// first. Test domains must be free.
func (h purchaseLicenses) parse(q Request) ([]license.Domain, error) {
	return q.parse(domainRule(h.Licensing), h.isFree)
}

// Check returns what is wrong with the domains of a request, whatever the rule of its item is.
func (q Request) Check() error {
	_, err := q.parse(license.DomainRule{Wildcard: true}, func(license.Domain) bool { return true })
	return err
}

// parse reads the domains. Its error is about all that is wrong, with Fields "domain" and "tests".
func (q Request) parse(rule license.DomainRule, isFree func(license.Domain) bool) ([]license.Domain, error) {
	d, err := parseDomain(q.Domain, rule)
	domains, wrong := []license.Domain{d}, []error{fault.At("domain", err)}
	if len(q.Tests) > maxTestDomains {
		wrong = append(wrong, badTests(fmt.Sprintf("Too many test domains: at most %d in one request", maxTestDomains)))
	}
	for _, test := range q.Tests {
		d, err := parseDomain(test, rule)
		switch {
		case err != nil:
			wrong = append(wrong, badTests(fault.Message(err)))
		case !isFree(d):
			wrong = append(wrong, badTests(d.Name+" is not a test domain. Test domains are localhost, names that end in .test or .local, private addresses, and the seller's staging hosts"))
		}
		domains = append(domains, d)
	}
	return domains, fault.All(wrong...)
}

func badTests(message string) error {
	return fault.WithFields(fault.Invalid(countersign.CodeDomainInvalid, message), map[string]string{"tests": message})
}

// aboutTest says of a refusal that it is about a test domain of a request.
func aboutTest(refusal error, test bool) error {
	apiErr := fault.Of(refusal)
	if !test || apiErr == nil {
		return refusal
	}
	return fault.WithFields(apiErr, map[string]string{"tests": apiErr.Message})
}
