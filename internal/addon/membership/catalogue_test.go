package membership

import (
	"testing"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/play"
)

func TestTheProductMapIsComparedWithTheCatalogueLineByLine(t *testing.T) {
	paid := func(id int64, name string) addondb.Package { return addondb.Package{ID: id, Name: name, Paid: true} }
	right := active("gold", false)
	for _, tt := range []struct {
		name     string
		mapped   map[string]int64
		packages []addondb.Package
		products []play.Product
		want     []CatalogueLine
	}{
		{"a product that fits has no problem", map[string]int64{"gold": 2}, []addondb.Package{paid(2, "Gold")}, []play.Product{right}, []CatalogueLine{{"gold", 2, "Gold", ""}}},
		{"a product that the store does not have", map[string]int64{"gold": 2}, []addondb.Package{paid(2, "Gold")}, nil, []CatalogueLine{{"gold", 2, "Gold", "The store has no product gold"}}},
		{"a product that is not active", map[string]int64{"gold": 2}, []addondb.Package{paid(2, "Gold")}, []play.Product{{ID: "gold"}}, []CatalogueLine{{"gold", 2, "Gold", "The product gold is not active in the store"}}},
		{"what is wrong comes first: a product that is not mapped", map[string]int64{"gold": 2}, []addondb.Package{paid(2, "Gold")}, []play.Product{right, {ID: "extra"}}, []CatalogueLine{{Product: "extra", Problem: "The product extra is not mapped: a purchase of it activates nothing"}, {"gold", 2, "Gold", ""}}},
		{"a paid package without a product", nil, []addondb.Package{paid(1, "Silver")}, nil, []CatalogueLine{{Package: 1, PackageName: "Silver", Problem: "No product activates this package"}}},
		{"a free package needs no product", nil, []addondb.Package{{ID: 7, Name: "Member"}}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := compareCatalogue(iap.Selling{Packages: tt.mapped}, tt.packages, tt.products)
			if len(got) != len(tt.want) {
				t.Fatalf("%+v", got)
			}
			for i := range got {
				expect.Equal(t, got[i], tt.want[i])
			}
		})
	}
}
