package license_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// rain is a valid license.
func rain() license.License {
	return license.License{
		ID: "0b6c6f0e-7d2f-4b1e-9a53-1f0a2c5d8e11", Issuer: "https://store.example",
		IssuedAt: start, NotBefore: start.Add(-time.Hour), Expires: start.AddDate(1, 0, 0),
		ItemID: 1229, ItemName: "Rain & <Storm>", LicenseType: "Regular", Purchase: "5f0c9b7a1d2e4f60718293a4b5c6d7e8",
		Domain: "shop.example", Domains: []string{"shop.example", "*.shop.example", "localhost"},
		SupportedUntil: countersign.At(start.AddDate(0, 6, 0)),
	}
}

func newKey(t testing.TB) license.SigningKey {
	t.Helper()
	return must.Get(license.NewSigningKey())(t)
}

func newSet(t testing.TB, keys ...license.SigningKey) *license.KeySet {
	t.Helper()
	var public []license.Key
	for _, k := range keys {
		public = append(public, k.Public())
	}
	return must.Get(license.NewKeySet(public...))(t)
}

func mustSign(t testing.TB, l license.License, key license.SigningKey) string {
	t.Helper()
	return must.Get(license.Sign(l, key))(t)
}

func TestOpenGivesWhatWasSigned(t *testing.T) {
	key := newKey(t)
	got := must.Get(license.Open(mustSign(t, rain(), key), newSet(t, key), "www.shop.example", start))(t)
	if diff := cmp.Diff(rain(), got); diff != "" {
		t.Errorf("signed -, opened +:\n%s", diff)
	}
}

func TestALicenseWithoutNotBeforeBeginsWhenItIsIssued(t *testing.T) {
	key, l := newKey(t), rain()
	l.NotBefore, l.Expires, l.SupportedUntil = time.Time{}, time.Time{}, countersign.Timestamp{}
	text := mustSign(t, l, key)
	if _, err := license.Open(text, newSet(t, key), "shop.example", start.Add(-time.Second)); !errors.Is(err, license.ErrNotYetValid) {
		t.Errorf("a second before: %v", err)
	}
	got, err := license.Open(text, newSet(t, key), "shop.example", start)
	l.NotBefore = start
	if diff := cmp.Diff(l, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestTheSameLicenseAndKeyGiveTheSameText(t *testing.T) {
	key := newKey(t)
	first, second := mustSign(t, rain(), key), mustSign(t, rain(), key)
	if first != second {
		t.Errorf("%s\n%s", first, second)
	}
}

func TestSignRefusesWhatOpenWouldNotTake(t *testing.T) {
	tests := []struct {
		name   string
		change func(*license.License)
	}{
		{"no id", func(l *license.License) { l.ID = "" }},
		{"an id with a space", func(l *license.License) { l.ID = "a b" }},
		{"no issuer", func(l *license.License) { l.Issuer = "" }},
		{"no time of issue", func(l *license.License) { l.IssuedAt = time.Time{} }},
		{"an end after the year 9999", func(l *license.License) { l.Expires = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"no item", func(l *license.License) { l.ItemID = 0 }},
		{"a name of the item that is not UTF-8", func(l *license.License) { l.ItemName = "\xff" }},
		{"a license type that there is not", func(l *license.License) { l.LicenseType = "regular" }},
		{"no purchase", func(l *license.License) { l.Purchase = "" }},
		{"a purchase code in place of its digest", func(l *license.License) { l.Purchase = "2f1c0e8a-6a0e-4f0e-9d1b-6f3c2a7b9e55" }},
		{"no domain", func(l *license.License) { l.Domain, l.Domains = "", nil }},
		{"a domain that is not among the domains", func(l *license.License) { l.Domain = "other.example" }},
		{"a domain that is not normal", func(l *license.License) { l.Domain, l.Domains = "Shop.example", []string{"Shop.example"} }},
		{"a domain with www.", func(l *license.License) { l.Domains = append(l.Domains, "www.shop.example") }},
		{"a public suffix", func(l *license.License) { l.Domains = append(l.Domains, "co.uk") }},
		{"a wildcard below a public suffix", func(l *license.License) { l.Domains = append(l.Domains, "*.co.uk") }},
		{"a wildcard without its name", func(l *license.License) { l.Domains = append(l.Domains, "*.other.example") }},
		{"more than a client would read", func(l *license.License) { l.ItemName = strings.Repeat("x", 64<<10) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := rain()
			tt.change(&l)
			if text, err := license.Sign(l, newKey(t)); err == nil {
				t.Errorf("signed as %.100s", text)
			}
		})
	}
}

func TestARefusalSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	key := newKey(t)
	text, keys := mustSign(t, rain(), key), newSet(t, key)
	_, err := license.Open(text, keys, "evil.test", start)
	if err == nil || !strings.Contains(err.Error(), "for shop.example, not for evil.test; get one for this domain") {
		t.Errorf("wrong domain: %v", err)
	}
	_, err = license.Open(text, keys, "shop.example", start.AddDate(1, 0, 0))
	if err == nil || !strings.Contains(err.Error(), "expired on 2027-01-01T00:00:00Z; get a new one") {
		t.Errorf("expired: %v", err)
	}
	_, err = license.Open(text, keys, "shop.example", start.AddDate(-1, 0, 0))
	if err == nil || !strings.Contains(err.Error(), "valid from 2025-12-31T23:00:00Z, and it is 2025-01-01T00:00:00Z; check the clock") {
		t.Errorf("not yet valid: %v", err)
	}
	_, err = license.Open(text, keys, "a b", start)
	if !errors.Is(err, license.ErrHost) || errors.Is(err, license.ErrWrongDomain) {
		t.Errorf("bad host: %v", err)
	}
}

func TestATextTooLongIsNotLookedAt(t *testing.T) {
	key := newKey(t)
	text := mustSign(t, rain(), key)
	_, err := license.Open(text+strings.Repeat("A", 64<<10), newSet(t, key), "shop.example", start)
	if !errors.Is(err, license.ErrNotCompact) || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v", err)
	}
}

func BenchmarkOpen(b *testing.B) {
	key := newKey(b)
	text, keys := mustSign(b, rain(), key), newSet(b, newKey(b), newKey(b), key)
	b.ReportAllocs()
	for b.Loop() {
		must.Get(license.Open(text, keys, "www.shop.example", start))(b)
	}
}

func BenchmarkSign(b *testing.B) {
	key := newKey(b)
	b.ReportAllocs()
	for b.Loop() {
		mustSign(b, rain(), key)
	}
}
