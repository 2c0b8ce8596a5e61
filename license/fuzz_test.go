package license_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

// FuzzOpen looks for a text that opens although nobody signed it: whatever opens has a signature of the vectors under
// the very header and payload that it was made for.
func FuzzOpen(f *testing.F) {
	file := readVectors(f)
	keys := must.Get(license.ReadKeySet(file.KeySet))(f)
	signed := map[string]bool{}
	for _, v := range file.Vectors {
		signed[strings.TrimSpace(v.License)] = true
		f.Add(v.License, v.Host, v.At)
	}
	f.Fuzz(func(t *testing.T, text, host string, at int64) {
		l, err := license.Open(text, keys, host, time.Unix(at, 0))
		if err == nil {
			if !signed[strings.TrimSpace(text)] {
				t.Fatalf("opens, and was never signed: %q", text)
			}
			covered := false
			for _, d := range l.Domains {
				covered = covered || license.Covers(d, host)
			}
			if !covered {
				t.Fatalf("opens for %q, and has %q", host, l.Domains)
			}
			return
		}
		var refused *license.Refusal
		if !errors.As(err, &refused) || refused.Code == "" || l.ID != "" {
			t.Fatalf("%v", err)
		}
		if _, err := license.OpenRevoked(text, keys, time.Unix(at, 0)); err != nil && !errors.As(err, &refused) {
			t.Fatalf("%v", err)
		}
	})
}

// FuzzDomain holds the forms of a domain to each other.
func FuzzDomain(f *testing.F) {
	for _, seed := range []string{
		"https://www.Shop.example:8443/a", "*.shop.example", "bücher.example.", "[::1]:80", "10.0.0.1", "staging.*", "xn--a", "www.co.uk", "www.www.c", "。", "0x7f.1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := license.Normalize(text)
		if err == nil {
			if again, err := license.Normalize(name); err != nil || again != name {
				t.Fatalf("%q is %q, which is %q, %v", text, name, again, err)
			}
			if !license.Covers(name, text) || !license.Covers(name, name) {
				t.Fatalf("%q does not cover %q", name, text)
			}
			if strings.ContainsAny(name, "/*@[] \t\n") || strings.ToLower(name) != name {
				t.Fatalf("%q is no form to keep", name)
			}
		}
		d, err := license.ParseDomain(text, license.DomainRule{Wildcard: true})
		if err != nil {
			return
		}
		again, err := license.ParseDomain(d.String(), license.DomainRule{Wildcard: true})
		if err != nil || again != d {
			t.Fatalf("%q is %v, which is %v, %v", text, d, again, err)
		}
	})
}

// FuzzReadKeySet reads key sets and writes them again.
func FuzzReadKeySet(f *testing.F) {
	f.Add([]byte(testKeySet()))
	f.Add([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":""}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := license.ReadKeySet(text)
		if err != nil {
			return
		}
		written := must.Get(set.MarshalJSON())(t)
		if again, err := license.ReadKeySet(written); err != nil || again.Len() != set.Len() {
			t.Fatalf("%s: %v", written, err)
		}
	})
}
