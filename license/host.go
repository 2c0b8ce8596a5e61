package license

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/countersign/countersign"
)

// Normalize returns the canonical form of a site's host, written in any usual form
// ("HTTPS://www.Shop.Example:8443/a?b", "bücher.example.", "[2001:db8::1]:80"): lower case, without scheme, port, path,
// trailing dot and "www.", international names in ASCII form (xn--…), IP addresses in their canonical form.
func Normalize(text string) (string, error) {
	forms, err := hostForms(text)
	if err != nil {
		return "", err
	}
	host := forms[0]
	for {
		rest, isWWW := strings.CutPrefix(host, "www.")
		if !isWWW || isPublicSuffix(rest) {
			return host, nil
		}
		host = rest
	}
}

// hostForms are the names that a site answers to: the one that is written, and those without one "www." after the other.
func hostForms(text string) ([]string, error) {
	host, err := hostOf(text)
	if err != nil {
		return nil, err
	}
	name, err := asciiName(host)
	if err != nil {
		return nil, err
	}
	forms := []string{name}
	for bare, isWWW := strings.CutPrefix(name, "www."); isWWW; bare, isWWW = strings.CutPrefix(bare, "www.") {
		forms = append(forms, bare)
	}
	return forms, nil
}

// hostOf takes the host out of an address. Brackets of an IPv6 address stay.
func hostOf(text string) (string, error) {
	text = strings.TrimSpace(text)
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		if !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
			return "", badDomain("invalid address: expected only a domain, like shop.example")
		}
		text = rest
	}
	if end := strings.IndexAny(text, `/\?#`); end >= 0 {
		text = text[:end]
	}
	if strings.Contains(text, "@") {
		return "", badDomain("an address with @ is not a domain: expected one like shop.example")
	}
	if strings.Count(text, ":") > 1 && !strings.HasPrefix(text, "[") {
		return text, nil // an IPv6 address without brackets has no port
	}
	host, port, hasPort := cutPort(text)
	if n, err := strconv.ParseUint(port, 10, 16); hasPort && port != "" && (err != nil || n == 0) {
		return "", badDomain("invalid port after the colon: expected only a domain, like shop.example")
	}
	if host == "" {
		return "", badDomain("the domain is missing: expected one like shop.example")
	}
	return host, nil
}

func cutPort(text string) (host, port string, found bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 || i < strings.LastIndexByte(text, ']') {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// names maps international names as browsers do (UTS 46, non-transitional). Hyphens and ASCII are looked at afterwards:
// real names have two hyphens in the third and fourth place, and an underscore.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.StrictDomainName(false),
	idna.CheckHyphens(false), idna.Transitional(false))

// asciiName brings a host into its one form, "www." included.
func asciiName(host string) (string, error) {
	if strings.Contains(host, ":") {
		return ipName(host)
	}
	if len(host) > 1024 || strings.ContainsRune(host, utf8.RuneError) { // or bytes that are not UTF-8
		return "", errNoDomain
	}
	name, err := names.ToASCII(host)
	if err != nil {
		return "", errNoDomain
	}
	name = strings.TrimSuffix(name, ".")
	labels := strings.Split(name, ".")
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return ipName(name) // as browsers see it: such a name is an IPv4 address or nothing
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, notInName) {
			return "", errNoDomain
		}
	}
	if len(name) > 253 {
		return "", errNoDomain
	}
	return name, nil
}

// notInName reports whether no name in ASCII form has a character. An underscore is in some that DNS and browsers know.
func notInName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

var errNoDomain = badDomain("invalid domain name: expected one like shop.example")

func ipName(host string) (string, error) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" {
		return "", badDomain("invalid host: expected a domain like shop.example, or an IP address")
	}
	return ip.Unmap().String(), nil
}

// isPublicSuffix reports whether a name is one below which anybody can have a site: com, co.uk, github.io.
func isPublicSuffix(name string) bool {
	suffix, _ := publicsuffix.PublicSuffix(name)
	return suffix == name
}

func badDomain(message string) error {
	return &countersign.Error{Kind: countersign.KindInvalid, Code: "domain_invalid", Message: message}
}

// reason is the sentence of a bad domain.
func reason(err error) string {
	if e, ok := errors.AsType[*countersign.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
