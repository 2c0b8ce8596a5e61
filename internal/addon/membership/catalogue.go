package membership

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
)

// CatalogueLine is a product of the published map, of the store or of both.
type CatalogueLine struct {
	// Product is the id of the product, "" for a package that none activates.
	Product string
	// Package is the package that it activates, 0 for none.
	Package     int64
	PackageName string
	// Problem says what is wrong, "" for nothing.
	Problem string
}

// CheckCatalogue compares the published product map with the store's catalogue (spec 2.7):
// products that the store does not have or does not sell, products that activate nothing, and
// paid packages without a product. What is wrong comes first.
func (s *Service) CheckCatalogue(ctx context.Context, actor people.Actor) ([]CatalogueLine, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return nil, err
	}
	store, selling, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	packages, err := s.db.Packages(ctx)
	if err != nil {
		return nil, err
	}
	products, err := catalogue(ctx, store, selling)
	if err != nil {
		return nil, fault.WithCause(refusal(err), err)
	}
	return compareCatalogue(selling, packages, products), nil
}

// catalogue reads the store's catalogue. What is bought once is read only while a product of the map is.
func catalogue(ctx context.Context, store Store, selling iap.Selling) ([]play.Product, error) {
	list, err := store.Products(ctx)
	if err != nil || len(selling.OneTime) == 0 {
		return list, err
	}
	once, err := store.OneTimeProducts(ctx)
	return append(list, once...), err
}

// compareCatalogue is the comparison, with what is wrong first.
func compareCatalogue(selling iap.Selling, packages []addondb.Package, products []play.Product) (lines []CatalogueLine) {
	names := map[int64]string{}
	for _, p := range packages {
		names[p.ID] = p.Name
	}
	sold := map[int64]bool{}
	for _, id := range slices.Sorted(maps.Keys(selling.Packages)) {
		activates := selling.Packages[id]
		sold[activates] = true
		lines = append(lines, CatalogueLine{Product: id, Package: activates, PackageName: names[activates], Problem: productProblem(id, selling, products)})
	}
	for _, p := range products {
		if _, mapped := selling.Packages[p.ID]; !mapped && !p.OneTime { // the app may sell others without the site
			lines = append(lines, CatalogueLine{Product: p.ID, Problem: fmt.Sprintf("The product %s is not mapped: a purchase of it activates nothing", p.ID)})
		}
	}
	for _, p := range packages {
		if p.Paid && !sold[p.ID] {
			lines = append(lines, CatalogueLine{Package: p.ID, PackageName: p.Name, Problem: "No product activates this package"})
		}
	}
	slices.SortStableFunc(lines, func(a, b CatalogueLine) int { return cmp.Compare(min(len(b.Problem), 1), min(len(a.Problem), 1)) })
	return lines
}
