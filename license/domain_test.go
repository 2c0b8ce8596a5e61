package license_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/license"
)

func TestNormalizeGivesOneForm(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a domain as it should be", "shop.example", "shop.example"},
		{"letter case", "Shop.EXAMPLE", "shop.example"},
		{"white space around it", " shop.example\n", "shop.example"},
		{"a scheme", "https://shop.example", "shop.example"},
		{"a scheme in capitals", "HTTP://shop.example", "shop.example"},
		{"a port", "shop.example:8443", "shop.example"},
		{"a colon without a port", "shop.example:", "shop.example"},
		{"a path", "shop.example/a/b", "shop.example"},
		{"a query", "shop.example?a=b", "shop.example"},
		{"a fragment", "shop.example#top", "shop.example"},
		{"a backslash, which browsers take for a slash", `https://shop.example\@evil.test`, "shop.example"},
		{"all of a URL", "https://www.Shop.example:8443/a?b=c#d", "shop.example"},
		{"a trailing dot", "shop.example.", "shop.example"},
		{"a trailing dot before a port", "shop.example.:80", "shop.example"},
		{"www.", "www.shop.example", "shop.example"},
		{"www. in capitals", "WWW.shop.example", "shop.example"},
		{"www. twice", "www.www.shop.example", "shop.example"},
		{"www. of a name below", "www.blog.shop.example", "blog.shop.example"},
		{"www. that is the domain itself", "www.com", "www.com"},
		{"www. before www. that is the domain itself", "www.www.com", "www.com"},
		{"www. that is the domain itself below a longer suffix", "www.co.uk", "www.co.uk"},
		{"a name that begins with www", "wwwshop.example", "wwwshop.example"},
		{"an international name", "bücher.example", "xn--bcher-kva.example"},
		{"an international name in capitals", "BÜCHER.example", "xn--bcher-kva.example"},
		{"an international name with a combining mark", "bu\u0308cher.example", "xn--bcher-kva.example"},
		{"an international name in its ASCII form", "XN--BCHER-KVA.example", "xn--bcher-kva.example"},
		{"ß stays itself, as browsers have it", "straße.example", "xn--strae-oqa.example"},
		{"an international name everywhere", "例え.テスト", "xn--r8jz45g.xn--zckzah"},
		{"ideographic full stops", "shop。example。", "shop.example"},
		{"full-width letters", "ｓｈｏｐ.example", "shop.example"},
		{"two hyphens in the third and fourth place", "r3---sn.example", "r3---sn.example"},
		{"an underscore", "https://My_Shop.example/a", "my_shop.example"},
		{"an underscore at the front", "_shop.example", "_shop.example"},
		{"an underscore in an international name", "bücher_laden.example", "xn--bcher_laden-thb.example"},
		{"localhost", "http://localhost:3000", "localhost"},
		{"an IPv4 address", "192.0.2.7", "192.0.2.7"},
		{"an IPv4 address with a port", "http://192.0.2.7:80/", "192.0.2.7"},
		{"an IPv6 address", "2001:DB8:0:0::1", "2001:db8::1"},
		{"an IPv6 address in brackets with a port", "http://[2001:db8::1]:8080/a", "2001:db8::1"},
		{"an IPv6 address in brackets", "[::1]", "::1"},
		{"an IPv4 address written as IPv6", "::ffff:192.0.2.7", "192.0.2.7"},
		{"the longest label", strings.Repeat("a", 63) + ".example", strings.Repeat("a", 63) + ".example"},
		{"a public suffix has a form, too", "CO.UK", "co.uk"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := license.Normalize(tt.text)
			if err != nil || got != tt.want {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
			if again, err := license.Normalize(got); err != nil || again != got {
				t.Errorf("normal again: %q, %v", again, err)
			}
		})
	}
}

func TestNormalizeRefuses(t *testing.T) {
	tests := []struct{ name, text string }{
		{"nothing", ""},
		{"white space", "  "},
		{"a scheme alone", "https://"},
		{"a path alone", "/admin"},
		{"another scheme", "ftp://shop.example"},
		{"an e-mail address", "ada@shop.example"},
		{"a user in a URL", "https://ada:secret@shop.example"},
		{"a port that is none", "shop.example:http"},
		{"a port beyond the last", "shop.example:65536"},
		{"an empty label", "shop..example"},
		{"a dot at the front", ".shop.example"},
		{"two trailing dots", "shop.example.."},
		{"a dot alone", "."},
		{"a space inside", "shop .example"},
		{"an asterisk", "my*shop.example"},
		{"a sign that is mapped to one of ASCII", "a⁇b.example"},
		{"an exclamation mark", "shop!.example"},
		{"a hyphen at the front", "-shop.example"},
		{"a hyphen at the end", "shop-.example"},
		{"a wildcard", "*.shop.example"},
		{"a percent sign", "shop%2eexample"},
		{"NUL", "shop\x00.example"},
		{"bytes that are no text", "shop\xff.example"},
		{"the character for bytes that are no text", "shop\ufffd.example"},
		{"a broken ASCII form", "xn--a.example"},
		{"letters of two directions in a label", "aא.example"},
		{"a joiner that joins nothing", "a\u200db.example"},
		{"a label too long", strings.Repeat("a", 64) + ".example"},
		{"a name too long", strings.Repeat("abcdefg.", 32) + "example"},
		{"something without an end", strings.Repeat("a", 5000)},
		{"an IPv4 address with too many parts", "1.2.3.4.5"},
		{"an IPv4 address with too few parts", "127.1"},
		{"an IPv4 address in one number", "2130706433"},
		{"an IPv4 address in hex", "0x7f.0.0.1"},
		{"the last part of an IPv4 address in hex", "127.0.0.0x1"},
		{"an IPv4 address with leading zeros", "192.000.002.007"},
		{"an IPv4 address beyond the last", "192.0.2.256"},
		{"a name that ends in a number", "shop.42"},
		{"an IPv6 address with a zone", "fe80::1%eth0"},
		{"an IPv6 address cut short", "2001:db8:1"},
		{"half a bracket", "[::1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := license.Normalize(tt.text)
			if err == nil {
				t.Fatalf("taken as %q", got)
			}
			checkDomainError(t, err)
		})
	}
}

// saysWhatToDo matches messages that end with what to type in its place.
var saysWhatToDo = regexp.MustCompile(`(; use|; write|: expected) .`)

// checkDomainError wants an error whose message is for the person who typed.
func checkDomainError(t *testing.T, err error) {
	t.Helper()
	var apiErr *countersign.Error
	if !errors.As(err, &apiErr) || apiErr.Kind != countersign.KindInvalid || apiErr.Code != "domain_invalid" || !saysWhatToDo.MatchString(apiErr.Message) {
		t.Errorf("%#v", err)
	}
}

func TestParseDomain(t *testing.T) {
	plain := license.DomainRule{}
	wild := license.DomainRule{Wildcard: true}
	staged := license.DomainRule{Staging: []string{"intranet"}}
	tests := []struct {
		name string
		text string
		rule license.DomainRule
		want string // "" when it is refused
	}{
		{"a domain", "https://www.shop.example/", plain, "shop.example"},
		{"a name below", "blog.shop.example", plain, "blog.shop.example"},
		{"a wildcard where the rule allows it", "*.shop.example", wild, "*.shop.example"},
		{"a wildcard in other letters, with a scheme and a port", "HTTPS://*.Shop.example:443", wild, "*.shop.example"},
		{"a wildcard of an international name", "*.bücher.example", wild, "*.xn--bcher-kva.example"},
		{"no wildcard where the rule allows one", "shop.example", wild, "shop.example"},
		{"a wildcard where the rule does not allow it", "*.shop.example", plain, ""},
		{"two wildcards", "*.*.shop.example", wild, ""},
		{"a wildcard further down", "blog.*.example", wild, ""},
		{"a wildcard for a part of a label", "b*.shop.example", wild, ""},
		{"a wildcard alone", "*", wild, ""},
		{"a wildcard and a dot", "*.", wild, ""},
		{"a wildcard below an IP address", "*.192.0.2.7", wild, ""},
		{"a public suffix", "com", plain, ""},
		{"a public suffix of two labels", "co.uk", plain, ""},
		{"a public suffix with www., which is a domain", "www.co.uk", plain, "www.co.uk"},
		{"a public suffix of a host of sites", "github.io", plain, ""},
		{"a site of that host", "ada.github.io", plain, "ada.github.io"},
		{"an international public suffix", "公司.cn", plain, ""},
		{"a suffix that nobody knows", "example", plain, ""},
		{"a name below it", "shop.example", plain, "shop.example"},
		{"a wildcard below a public suffix", "*.co.uk", wild, ""},
		{"a wildcard below all of .test", "*.test", wild, ""},
		{"localhost, which is free", "localhost", plain, "localhost"},
		{"a single word", "intranet", plain, ""},
		{"a single word that is declared", "intranet", staged, "intranet"},
		{"an IPv4 address", "192.0.2.7", plain, "192.0.2.7"},
		{"an IPv6 address", "[2001:db8::1]:443", plain, "2001:db8::1"},
		{"nothing", "", plain, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := license.ParseDomain(tt.text, tt.rule)
			if tt.want == "" {
				if err == nil {
					t.Fatalf("taken as %v", d)
				}
				checkDomainError(t, err)
				return
			}
			if err != nil || d.String() != tt.want {
				t.Errorf("%v, %v, want %s", d, err, tt.want)
			}
		})
	}
}

func TestAWildcardIsGivenBesideItsName(t *testing.T) {
	d, err := license.ParseDomain("*.shop.example", license.DomainRule{Wildcard: true})
	if err != nil || d.Name != "shop.example" || strings.Join(d.Names(), " ") != "shop.example *.shop.example" {
		t.Errorf("%v %v", d.Names(), err)
	}
	d, err = license.ParseDomain("shop.example", license.DomainRule{Wildcard: true})
	if err != nil || strings.Join(d.Names(), " ") != "shop.example" {
		t.Errorf("%v %v", d.Names(), err)
	}
}

func TestIsFree(t *testing.T) {
	staging := []string{"staging.agency.example", "*.preview.example", "staging.*"}
	tests := []struct {
		host string
		want bool
	}{
		{"localhost", true}, {"http://LOCALHOST:3000/", true}, {"app.localhost", true}, {"localhost.example", false},
		{"shop.test", true}, {"a.b.test", true}, {"www.shop.test", true}, {"shop.test.example", false}, {"contest", false}, {"shoptest", false},
		{"shop.local", true}, {"printer.local", true}, {"shop.local.example", false},
		{"shop.internal", true}, {"shop.home.arpa", true}, {"internal", false}, {"home.arpa", false}, {"shop.arpa", false}, {"shopinternal", false},
		{"127.0.0.1", true}, {"127.255.255.254", true}, {"128.0.0.1", false},
		{"10.0.2.2", true}, {"11.0.0.1", false},
		{"172.16.0.1", true}, {"172.31.255.255", true}, {"172.32.0.1", false}, {"172.15.0.1", false},
		{"192.168.1.5:8080", true}, {"192.169.0.1", false},
		{"169.254.1.1", true}, {"8.8.8.8", false}, {"192.0.2.7", false},
		{"[::1]:8080", true}, {"fd00::1", true}, {"fe80::1", true}, {"::ffff:10.0.0.1", true}, {"2001:db8::1", false},
		{"shop.example", false}, {"test", false}, {"local", false}, {"", false}, {"a b", false},
		{"staging.agency.example", true}, {"www.staging.agency.example", true}, {"agency.example", false},
		{"one.preview.example", true}, {"one.two.preview.example", false}, {"preview.example", false},
		{"staging.shop.example", true}, {"staging.example", true}, {"mystaging.shop.example", false}, {"stagingx.shop.example", false},
	}
	for _, tt := range tests {
		expect.Equalf(t, license.IsFree(tt.host, staging...), tt.want, "IsFree(%q)", tt.host)
	}
}

func TestParseStaging(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a host", "https://Staging.agency.example/", "staging.agency.example"},
		{"every name below another", "*.Preview.example", "*.preview.example"},
		{"every name that begins with a word", " Staging.* ", "staging.*"},
		{"a word of more than one label", "a.b.*", ""},
		{"no word", ".*", ""},
		{"everything", "*", ""},
		{"everything, twice", "*.*", ""},
		{"every name below a public suffix", "*.com", ""},
		{"a public suffix", "com", ""},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := license.ParseStaging(tt.text)
			if (err == nil) != (tt.want != "") || got != tt.want {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	tests := []struct {
		domain, host string
		want         bool
	}{
		{"shop.example", "shop.example", true},
		{"shop.example", "www.shop.example", true},
		{"shop.example", "https://WWW.Shop.Example.:8443/a", true},
		{"shop.example", "shop.example.evil.test", false},
		{"shop.example", "www.shop.example.evil.test", false},
		{"shop.example", "evilshop.example", false},
		{"shop.example", "blog.shop.example", false},
		{"shop.example", "example", false},
		{"shop.example", "", false},
		{"blog.shop.example", "shop.example", false},
		{"blog.shop.example", "www.blog.shop.example", true},
		{"*.shop.example", "blog.shop.example", true},
		{"*.shop.example", "www.blog.shop.example", true},
		{"*.shop.example", "www.shop.example", true},
		{"*.shop.example", "shop.example", false},
		{"*.shop.example", "a.b.shop.example", false},
		{"*.shop.example", "blog.shop.example.evil.test", false},
		{"*.shop.example", "evilshop.example", false},
		{"xn--bcher-kva.example", "www.bücher.example", true},
		{"www.com", "www.com", true},
		{"www.com", "www.www.com", true},
		{"www.com", "com", false},
		{"192.0.2.7", "http://192.0.2.7:80", true},
		{"192.0.2.7", "1.192.0.2.7", false},
		{"2001:db8::1", "[2001:db8:0::1]:443", true},
		{"localhost", "localhost:3000", true},
		{"localhost", "127.0.0.1", false},
	}
	for _, tt := range tests {
		expect.Equalf(t, license.Covers(tt.domain, tt.host), tt.want, "Covers(%q, %q)", tt.domain, tt.host)
	}
}
