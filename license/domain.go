package license

import (
	"net/netip"
	"slices"
	"strings"
)

// Domain is a domain that a license is asked for.
type Domain struct {
	Name     string // in the form of [Normalize]
	Wildcard bool   // every name one level below as well
}

// DomainRule is what a seller allows for an item.
type DomainRule struct {
	// Wildcard allows "*.shop.example".
	Wildcard bool
	// Staging are the hosts declared free for every buyer, each as [ParseStaging] gives it.
	Staging []string
}

// ParseDomain parses the domain of a license request, in the forms of [Normalize], or with "*." before the name if rule
// allows it. It refuses public suffixes, because no single owner has them. The error is a countersign.Error of
// KindInvalid, with a message for the person who typed the domain.
func ParseDomain(text string, rule DomainRule) (Domain, error) {
	host, err := hostOf(text)
	if err != nil {
		return Domain{}, err
	}
	base, wildcard := strings.CutPrefix(host, "*.")
	name, err := Normalize(base)
	if err != nil {
		return Domain{}, err
	}
	_, noIP := netip.ParseAddr(name)
	switch {
	case wildcard && !rule.Wildcard:
		return Domain{}, badDomain("this item's licenses are for one domain, without *; use the domain itself, like shop.example")
	case wildcard && noIP == nil:
		return Domain{}, badDomain("an IP address has no subdomains; write it without the *")
	case noIP != nil && isPublicSuffix(name) && (wildcard || !IsFree(name, rule.Staging...)):
		return Domain{}, badDomain("anyone can have a name below " + name + "; use the full domain, like shop.example")
	}
	return Domain{Name: name, Wildcard: wildcard}, nil
}

// Names are what a license for the domain says in [License.Domains]: the name, and "*." before it for a wildcard.
func (d Domain) Names() []string {
	if d.Wildcard {
		return []string{d.Name, "*." + d.Name}
	}
	return []string{d.Name}
}

// String is the domain as it was asked for.
func (d Domain) String() string {
	if d.Wildcard {
		return "*." + d.Name
	}
	return d.Name
}

// ParseStaging reads a declared staging host: one name ("staging.example"), every name one level below another
// ("*.preview.example"), or every name that begins with a word ("staging.*").
func ParseStaging(text string) (string, error) {
	if word, ok := strings.CutSuffix(strings.TrimSpace(text), ".*"); ok {
		name, err := asciiName(word)
		if err != nil || strings.ContainsAny(name, ".:") {
			return "", badDomain("invalid word before .*: expected one like staging.*")
		}
		return name + ".*", nil
	}
	d, err := ParseDomain(text, DomainRule{Wildcard: true})
	return d.String(), err
}

// What is free for everybody: sites that only their developer can reach.
var (
	freeSuffixes = []string{".localhost", ".test", ".local", ".internal", ".home.arpa"}
	freeNetworks = []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"),
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
		netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("fe80::/10"),
	}
)

// IsFree reports whether licenses for a host are free and do not count: localhost, the names of private networks
// (*.test, *.local, *.internal, *.home.arpa), private addresses, and the hosts that the seller declared for staging. The
// host may be in any form of [Normalize].
func IsFree(host string, staging ...string) bool {
	name, err := Normalize(host)
	if err != nil {
		return false
	}
	ip, notIP := netip.ParseAddr(name)
	return name == "localhost" ||
		slices.ContainsFunc(freeSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) }) ||
		slices.ContainsFunc(freeNetworks, func(n netip.Prefix) bool { return notIP == nil && n.Contains(ip) }) ||
		slices.ContainsFunc(staging, func(declared string) bool { return coversStaging(declared, name) })
}

func coversStaging(declared, name string) bool {
	if word, ok := strings.CutSuffix(declared, "*"); ok {
		return strings.HasPrefix(name, word)
	}
	return coversForms(declared, []string{name})
}

// Covers reports whether a domain of [License.Domains] is that of a site at a host. A site at "www." has the domain
// without it. "*.shop.example" covers every name one level below shop.example, and not shop.example itself. The host
// may be in any form of [Normalize].
func Covers(domain, host string) bool {
	forms, err := hostForms(host)
	return err == nil && coversForms(domain, forms)
}

// coversForms is Covers for the names of [hostForms].
func coversForms(domain string, forms []string) bool {
	base, wildcard := strings.CutPrefix(domain, "*.")
	for _, name := range forms {
		label, parent, _ := strings.Cut(name, ".")
		if wildcard && parent == base && label != "" || name == domain {
			return true
		}
	}
	return false
}
