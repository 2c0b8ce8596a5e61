package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

const packagesPath = "/api-addons/admin/packages"

func TestPackages(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.Get(packagesPath).Says("No package yet")
		b.Fill(packagesPath+"/new", packagesPath, "name", " Silver ", "rank", "10").LeadsTo(packagesPath)
		b.Fill(packagesPath+"/new", packagesPath, "name", "Member", "free", "1").LeadsTo(packagesPath)
		b.Get(packagesPath).Says("The package “Member” was added.", "Silver", "Paid", "None yet", "Free", "not needed")
		s.wantPackages(t, iap.Package{ID: 1, Name: "Silver", Rank: 10, Paid: true}, iap.Package{ID: 2, Name: "Member"})

		b.Fill(packagesPath+"/1", packagesPath+"/1", "name", "Gold", "id", "7", "rank", "20").LeadsTo(packagesPath)
		s.wantPackages(t, iap.Package{ID: 1, Name: "Gold", Rank: 20, Paid: true}, iap.Package{ID: 2, Name: "Member"})

		s.mustSet(t, iap.KeyProductMap, `{"store":{"gold_monthly":1}}`)
		b.Get(packagesPath + "/2/remove").Says("removed from the list at once")
		b.Post(packagesPath+"/1/remove").Status(http.StatusConflict).Says("the draft maps gold_monthly to it", "remove them from the product map")
		b.Post(packagesPath + "/2/remove").LeadsTo(packagesPath)
		s.wantPackages(t, iap.Package{ID: 1, Name: "Gold", Rank: 20, Paid: true})
	})
}

func TestTheListShowsWhatBlocksTheRemovalOfAPackage(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.mustPackage(t, 1, "Silver", true)
		s.mustPackage(t, 2, "Gold", true)
		wantRemove := func(when string, package1, package2 int) {
			t.Helper()
			p := b.Get(packagesPath)
			if got1, got2 := len(p.Having("href", packagesPath+"/1/remove")), len(p.Having("href", packagesPath+"/2/remove")); got1 != package1 || got2 != package2 {
				t.Errorf("%s: %d and %d links to a removal, want %d and %d", when, got1, got2, package1, package2)
			}
		}
		wantRemove("no products", 1, 1)
		s.mustSet(t, iap.KeyProductMap, `{"store":{"gold_monthly":2,"silver_monthly":1}}`)
		wantRemove("both in the draft", 0, 0)
		p := b.Get(packagesPath).Says("A package can't be removed while products are mapped to it")
		if links := p.Having("href", iapPath+"#field-product.1"); len(links) != 1 || webtest.TextOf(links[0]) != "silver_monthly" {
			t.Error("nothing leads to the product in the form")
		}
		expect.Equalf(t, len(b.Get(iapPath).Having("id", "field-product.1")), 1, "the form has no such field")
		b.Get(packagesPath + "/1/remove").LeadsTo(packagesPath)
		b.Get(packagesPath).Says("The package “Silver” can't be removed yet.")
		s.mustPublish(t, "")
		s.mustSet(t, iap.KeyProductMap, `{"store":{"gold_monthly":2}}`)
		wantRemove("one is still published", 0, 0)
		p = b.Get(packagesPath).Says("silver_monthly (until you publish)")
		expect.Equalf(t, len(p.Having("href", iapPath+"/publish")), 1, "nothing leads to the publish")
		s.mustPublish(t, "")
		wantRemove("one is no longer mapped", 1, 0)
		b.Fill(packagesPath+"/1/remove", packagesPath+"/1/remove").LeadsTo(packagesPath)
		s.wantPackages(t, iap.Package{ID: 2, Name: "Gold", Rank: 20, Paid: true})
	})
}

func TestPackagesThatAreWrongAreShownAgain(t *testing.T) {
	s := one(t)
	s.mustPackage(t, 1, "Silver", true)
	b := s.signedIn(t)
	p := b.Post(packagesPath).Status(http.StatusUnprocessableEntity)
	p.Wrong("name", "Type the name that members see.").Wrong("id", "Type a whole number, like 3.")
	for _, tt := range []struct {
		form        []string
		field, says string
		status      int
	}{
		{[]string{"id", "0"}, "id", "from 1 to", 422}, {[]string{"id", "1.5"}, "id", "whole number", 422}, {[]string{"id", "2147483648"}, "id", "from 1 to 2147483647", 422},
		{[]string{"id", "1"}, "id", "The package 1 already exists", 409},
		{[]string{"rank", "high"}, "rank", "whole number", 422}, {[]string{"rank", "-1"}, "rank", "from 0 to", 422},
		{[]string{"name", "a\nb"}, "name", "control characters", 422},
	} {
		p := b.Fill(packagesPath+"/new", packagesPath, append([]string{"name", "Gold", "free", "1"}, tt.form...)...).Status(tt.status).Wrong(tt.field, tt.says)
		if !webtest.Has(p.Having("id", "field-free")[0], "checked") {
			t.Errorf("%q: the switch is lost", tt.form)
		}
	}
	b.Fill(packagesPath+"/1", packagesPath+"/1", "name", " ").Status(http.StatusUnprocessableEntity).Wrong("name", "Type the name")
	s.wantPackages(t, iap.Package{ID: 1, Name: "Silver", Rank: 10, Paid: true})
}

func (s *site) wantPackages(t *testing.T, want ...iap.Package) {
	t.Helper()
	got := must.Get(s.IAP.Packages(t.Context(), operator))(t)
	same := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		same = same && got[i] == want[i]
	}
	if !same {
		t.Errorf("packages %v, want %v", got, want)
	}
}
