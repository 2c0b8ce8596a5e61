package iap

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Limits of a package's numbers. Ids go to apps as JSON numbers, which many read
// as 32 bits.
const (
	maxPackageID = 1<<31 - 1
	maxRank      = 1_000_000
)

// Package is a membership package. A change of one takes effect at once, without
// a publish.
type Package = addondb.Package

// Packages lists all by id.
func (s *Service) Packages(ctx context.Context, actor people.Actor) ([]Package, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return nil, err
	}
	return s.db.Packages(ctx)
}

// AddPackage adds one. A taken id is a conflict (package_exists); wrong values
// are invalid with Fields "id", "name" and "rank".
func (s *Service) AddPackage(ctx context.Context, actor people.Actor, p Package) error {
	return s.changePackage(ctx, actor, &p, func(tx *addondb.DB) error {
		err := tx.AddPackage(ctx, p)
		if errors.Is(err, sqldb.ErrExists) {
			return fault.Conflict("package_exists", fmt.Sprintf("The package %d already exists. Choose another id", p.ID))
		}
		if err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionPackageAdd, Subject: packageName(p), After: describePackage(p)})
	})
}

// UpdatePackage changes name, rank and paid of the package with the id.
func (s *Service) UpdatePackage(ctx context.Context, actor people.Actor, p Package) error {
	return s.changePackage(ctx, actor, &p, func(tx *addondb.DB) error {
		before, err := tx.Package(ctx, p.ID)
		if err != nil {
			return sqldb.IfNotFound(err, noPackage(p.ID))
		}
		if before == p {
			return nil
		}
		if err := tx.UpdatePackage(ctx, p); err != nil {
			return err
		}
		if before.Rank != p.Rank {
			if err := s.ranked(ctx, tx); err != nil {
				return err
			}
		}
		return s.access.Audit(ctx, tx, actor, people.Event{
			Action: access.ActionPackageUpdate, Subject: packageName(p), Before: describePackage(before), After: describePackage(p),
		})
	})
}

// RemovePackage removes one that nobody has and to which neither the draft nor what is
// published maps a product; otherwise it is a conflict (package_in_use) that says so.
func (s *Service) RemovePackage(ctx context.Context, actor people.Actor, id int64) error {
	return s.changePackage(ctx, actor, nil, func(tx *addondb.DB) error {
		p, err := tx.Package(ctx, id)
		if err != nil {
			return sqldb.IfNotFound(err, noPackage(id))
		}
		uses, err := readUses(ctx, tx)
		if err != nil {
			return err
		}
		if err := uses[id].blocks(p); err != nil {
			return err
		}
		if err := s.noMembers(ctx, tx, p); err != nil {
			return err
		}
		if err := tx.DeletePackage(ctx, id); err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionPackageRemove, Subject: packageName(p), Before: describePackage(p)})
	})
}

// changePackage runs a change in one transaction, while nobody changes the draft,
// whose map names packages.
func (s *Service) changePackage(ctx context.Context, actor people.Actor, p *Package, change func(*addondb.DB) error) error {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return err
	}
	if p != nil {
		if err := checkPackage(p); err != nil {
			return err
		}
	}
	err := s.db.Tx(ctx, func(tx *addondb.DB) error {
		if _, err := tx.LockDraft(ctx); err != nil {
			return err
		}
		return change(tx)
	})
	if err == nil {
		s.serveNow(ctx)
	}
	return err
}

// CheckPackage returns all that is wrong with a package that is to be written, with Fields "id", "name" and "rank".
func CheckPackage(p Package) error { return checkPackage(&p) }

func checkPackage(p *Package) error {
	problems := map[string]string{}
	if p.ID <= 0 || p.ID > maxPackageID {
		problems["id"] = fmt.Sprintf("A package id is a whole number from 1 to %d", maxPackageID)
	}
	name, problem := input.Title(p.Name)
	if problem == "" && name == "" {
		problem = "A package needs a name"
	}
	if problem != "" {
		problems["name"] = problem
	}
	if p.Rank < 0 || p.Rank > maxRank {
		problems["rank"] = fmt.Sprintf("A rank is a whole number from 0 to %d", maxRank)
	}
	if len(problems) > 0 {
		return input.Refused(problems)
	}
	p.Name = name
	return nil
}

func noPackage(id int64) *countersign.Error {
	return fault.NotFound("package_not_found", fmt.Sprintf("No package %d", id))
}

func packageName(p Package) string { return fmt.Sprintf("%d %s", p.ID, p.Name) }

func describePackage(p Package) string {
	price := "free"
	if p.Paid {
		price = "paid"
	}
	return fmt.Sprintf("%s, rank %d, %s", p.Name, p.Rank, price)
}
