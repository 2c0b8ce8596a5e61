package addon

import (
	"context"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// Package is a membership package. A change of one takes effect at once, without
// a publish.
type Package = addondb.Package

// Packages lists all by id.
func (a *Addon) Packages(ctx context.Context, actor people.Actor) ([]Package, error) {
	return nil, errNotBuilt
}

// AddPackage adds one. A taken id is a conflict (package_exists); wrong values
// are invalid with Fields "id", "name" and "rank".
func (a *Addon) AddPackage(ctx context.Context, actor people.Actor, p Package) error {
	return errNotBuilt
}

// UpdatePackage changes name, rank and paid of the package with the id.
func (a *Addon) UpdatePackage(ctx context.Context, actor people.Actor, p Package) error {
	return errNotBuilt
}

// RemovePackage removes one to which neither the draft nor what is published maps
// a product; otherwise it is a conflict (package_in_use) that names them.
func (a *Addon) RemovePackage(ctx context.Context, actor people.Actor, id int64) error {
	return errNotBuilt
}
