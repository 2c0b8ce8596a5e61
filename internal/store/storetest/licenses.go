package storetest

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/license"
)

// Opens is the error of a client that opens a license.
func (f *Fixture) Opens(t testing.TB, l licensing.Signed) error {
	t.Helper()
	_, err := license.Open(l.Text, f.KeySet(t), l.Domain, f.Clock.Now())
	return err
}

// Buyer is a person who has bought something.
var Buyer = people.Buyer(people.FrontEndAPI, netip.MustParseAddr("192.0.2.9"))

// Issuer is the address of the store in its licenses.
const Issuer = "https://store.example"

// KeySet is the key set as clients read it.
func (f *Fixture) KeySet(t testing.TB) *license.KeySet {
	t.Helper()
	d := must.Get(f.Licensing.KeySet(t.Context()))(t)
	return must.Get(license.ReadKeySet(d.Plain.Body))(t)
}

// Revoked lists the ids of the revoked licenses, as a client reads them.
func (f *Fixture) Revoked(t testing.TB) []string {
	t.Helper()
	d := must.Get(f.Licensing.RevokedList(t.Context(), Issuer))(t)
	var answer struct{ Data countersign.RevokedLicenses }
	must.Do(t, json.Unmarshal(d.Plain.Body, &answer))
	list := must.Get(license.OpenRevoked(answer.Data.List, f.KeySet(t), f.Clock.Now()))(t)
	if list.Issuer != Issuer {
		t.Errorf("the list is of %q", list.Issuer)
	}
	return list.IDs
}

// Issue issues a license to Buyer.
func (f *Fixture) Issue(t testing.TB, code, domain string) licensing.Signed {
	t.Helper()
	l, err := f.Licensing.Issue(t.Context(), Buyer, Issuer, code, domain)
	if err != nil {
		t.Fatalf("license of %s for %s: %v", code, domain, err)
	}
	return l
}

// Licensed runs fn on both engines with a copy of LicensedStore, beside other tests.
func Licensed(t *testing.T, fn func(t *testing.T, f *Fixture)) {
	t.Helper()
	t.Parallel()
	LicensedStore.Engines(t, func(t *testing.T, at dbtest.DB) { fn(t, Prepared(t, at)) })
}

// LicensedStore has purchases of the items of TwoShops: "one" and "two" of item 1,
// "extended" of item 1, "refunded", "charged_back" and "revoked" of item 1, "plain" of item
// 2 without support, "bobs" of item 3.
var LicensedStore = newTemplate(TwoShops + Lines(
	PurchaseText("ada", 1, "one", `"supported_until":"2027-04-27T12:00:00Z"`), PurchaseText("ada", 1, "two", `"supported_until":"2025-04-27T12:00:00Z"`),
	PurchaseText("ada", 1, "extended", `"license_type":"Extended"`), PurchaseText("ada", 1, "refunded", `"state":"refunded"`),
	PurchaseText("ada", 1, "charged_back", `"state":"charged_back"`), PurchaseText("ada", 1, "revoked", `"state":"revoked"`),
	PurchaseText("ada", 2, "plain", `"supported_until":"2025-04-27T12:00:00Z"`), PurchaseText("bob", 3, "bobs"),
))

// Allow changes the license rule of an item.
func (f *Fixture) Allow(t testing.TB, item int64, change func(*licensing.Rule)) {
	t.Helper()
	must.Get(f.Licensing.SetRule(t.Context(), Operator, item, "", change))(t)
}
