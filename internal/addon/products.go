package addon

import (
	"context"

	"github.com/countersign/countersign/internal/people"
)

// Product is a line of the product map: a store product and the membership
// package that it gives.
type Product struct {
	StoreID   string
	PackageID int64
}

// ParseProducts reads a product map (spec 2.6). The products come by store id. Its
// error is a sentence about what is wrong.
func ParseProducts(text string) ([]Product, error) { return nil, errNotBuilt }

// Products lists the draft's product map by store id.
func (a *Addon) Products(ctx context.Context, actor people.Actor) ([]Product, error) {
	return nil, errNotBuilt
}

// AddProduct maps a store product to a package in the draft. A product that is
// mapped already is a conflict (product_exists).
func (a *Addon) AddProduct(ctx context.Context, actor people.Actor, revision int64, storeID string, packageID int64) (Settings, error) {
	return Settings{}, errNotBuilt
}

// RemoveProduct takes a store product out of the draft's map.
func (a *Addon) RemoveProduct(ctx context.Context, actor people.Actor, revision int64, storeID string) (Settings, error) {
	return Settings{}, errNotBuilt
}
