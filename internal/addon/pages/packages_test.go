package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/addon/iap"
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
		b.Get(packagesPath).Says("gold_monthly")
		b.Get(packagesPath + "/1/remove").Says("removed from the list at once")
		b.Post(packagesPath+"/1/remove").Status(http.StatusConflict).Says("gold_monthly", "remove that from the product map")
		b.Post(packagesPath + "/2/remove").LeadsTo(packagesPath)
		s.wantPackages(t, iap.Package{ID: 1, Name: "Gold", Rank: 20, Paid: true})
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
	got, err := s.IAP.Packages(t.Context(), operator)
	if err != nil {
		t.Fatal(err)
	}
	same := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		same = same && got[i] == want[i]
	}
	if !same {
		t.Errorf("packages %v, want %v", got, want)
	}
}
