package iap

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// PackageUse is the ids of the store products that are mapped to a package, in order.
// Any of them blocks its removal.
type PackageUse struct {
	// Draft is those of the draft, Published those that apps receive.
	Draft, Published []string
}

// Blocks reports whether the package can't be removed.
func (u PackageUse) Blocks() bool { return len(u.Draft)+len(u.Published) > 0 }

// PackageUses returns what the packages are used for, by their ids. A package that no
// product is mapped to is not in it.
func (s *Service) PackageUses(ctx context.Context, actor people.Actor) (map[int64]PackageUse, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return nil, err
	}
	var uses map[int64]PackageUse
	err := s.db.Snapshot(ctx, func(tx *addondb.DB) (err error) {
		uses, err = readUses(ctx, tx)
		return err
	})
	return uses, err
}

func readUses(ctx context.Context, tx *addondb.DB) (map[int64]PackageUse, error) {
	rows, err := tx.Settings(ctx)
	if err != nil {
		return nil, err
	}
	last, err := tx.LastVersion(ctx)
	if err != nil {
		return nil, err
	}
	uses := map[int64]PackageUse{}
	for _, p := range ValuesOf(rows).Products {
		use := uses[p.PackageID]
		use.Draft = append(use.Draft, p.StoreID)
		uses[p.PackageID] = use
	}
	for _, p := range ValuesOf(last.Settings.V).Products {
		use := uses[p.PackageID]
		use.Published = append(use.Published, p.StoreID)
		uses[p.PackageID] = use
	}
	return uses, nil
}

// blocks is the error of removing a package in use, nil when it is not.
func (u PackageUse) blocks(p Package) error {
	var by []string
	next := "First publish the draft, which no longer maps them"
	if len(u.Published) > 0 {
		by = append(by, "the published settings map "+firstOf(u.Published)+" to it")
	}
	if len(u.Draft) > 0 {
		by = append([]string{"the draft maps " + firstOf(u.Draft) + " to it"}, by...)
		next = "First remove them from the product map and publish"
	}
	if len(by) == 0 {
		return nil
	}
	return fault.Conflict("package_in_use", fmt.Sprintf("The package %s is in use: %s. %s", packageName(p), strings.Join(by, ", and "), next))
}

// noMembers is an error while somebody has a package.
func (s *Service) noMembers(ctx context.Context, tx *addondb.DB, p Package) error {
	n, err := tx.PackageMembers(ctx, p.ID, s.access.Timestamp())
	if err == nil && n > 0 {
		err = fault.Conflict("package_in_use", fmt.Sprintf("The package %s is in use: members have it by %d purchases and grants. Wait for their end, or end the grants", packageName(p), n))
	}
	return err
}

// firstOf names the first of some products, and how many more there are.
func firstOf(ids []string) string {
	const limit = 10
	if len(ids) <= limit {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:limit], ", "), len(ids)-limit)
}
