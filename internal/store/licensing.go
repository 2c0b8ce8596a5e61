package store

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// Licensing says what the purchases of an item may be licensed for.
type Licensing = storedb.Licensing

// Limits of what may be written.
const (
	maxLicenseDomains = 1000
	maxLicenseMoves   = 1000
	maxMoveWaitHours  = 24 * 365
)

// SetLicensing lets change alter what the purchases of an item may be licensed
// for. Licenses that were issued stay.
func (s *Store) SetLicensing(ctx context.Context, a people.Actor, item int64, change func(*Licensing)) (Item, error) {
	if err := may(a, manage); err != nil {
		return Item{}, err
	}
	var i Item
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		var err error
		if i, err = tx.LockItem(ctx, item); err != nil {
			return sqldb.IfNotFound(err, noItem(item))
		}
		change(&i.Licensing)
		if err := checkLicensing(&i.Licensing); err != nil {
			return err
		}
		w, err := tx.WorkspaceByID(ctx, i.WorkspaceID)
		if err != nil {
			return err
		}
		if err := tx.SetLicensing(ctx, item, i.Licensing); err != nil {
			return err
		}
		return s.audit(ctx, tx, a, "item.licensing", w.Account.Username, fmt.Sprint(item), "")
	})
	return i, err
}

// checkLicensing says what is wrong with an item's licensing that is to be
// written, and brings its hosts into the form that is compared; nil says nothing.
func checkLicensing(l *Licensing) error {
	if l == nil {
		return nil
	}
	inRange := func(what string, n, most int) error {
		if n < 0 || n > most {
			return fault.Invalid(fault.CodeInvalid, fmt.Sprintf("licensing.%s: it is a whole number from 0 to %d", what, most))
		}
		return nil
	}
	if len(l.StagingHosts) > maxWords {
		return fault.Invalid(fault.CodeInvalid, fmt.Sprintf("licensing.staging_hosts: at most %d", maxWords))
	}
	hosts := make(countersign.List, len(l.StagingHosts)) // a new list: the old one may be another's
	for i, host := range l.StagingHosts {
		var err error
		if hosts[i], err = license.ParseStaging(host); err != nil {
			return fault.Invalid(fault.CodeInvalid, fmt.Sprintf("licensing.staging_hosts: %q: %s", host, fault.Message(err)))
		}
	}
	l.StagingHosts = hosts
	return first(
		inRange("regular_domains", l.RegularDomains, maxLicenseDomains),
		inRange("extended_domains", l.ExtendedDomains, maxLicenseDomains),
		inRange("moves_a_year", l.MovesAYear, maxLicenseMoves),
		inRange("move_wait_hours", l.MoveWaitHours, maxMoveWaitHours),
	)
}

// licensingLine is an item's licensing in a line. What it does not name is as
// for a new item.
type licensingLine struct {
	RegularDomains  *int             `json:"regular_domains,omitempty"`
	ExtendedDomains *int             `json:"extended_domains,omitempty"`
	MovesAYear      *int             `json:"moves_a_year,omitempty"`
	MoveWaitHours   *int             `json:"move_wait_hours,omitempty"`
	Wildcard        bool             `json:"wildcard"`
	StagingHosts    countersign.List `json:"staging_hosts"`
}

// licensing is nil when a line says nothing of it.
func (l *licensingLine) licensing() *Licensing {
	if l == nil {
		return nil
	}
	out := storedb.DefaultLicensing()
	for to, from := range map[*int]*int{
		&out.RegularDomains: l.RegularDomains, &out.ExtendedDomains: l.ExtendedDomains,
		&out.MovesAYear: l.MovesAYear, &out.MoveWaitHours: l.MoveWaitHours,
	} {
		if from != nil {
			*to = *from
		}
	}
	out.Wildcard, out.StagingHosts = l.Wildcard, l.StagingHosts
	return &out
}

func lineOfLicensing(l Licensing) *licensingLine {
	return &licensingLine{&l.RegularDomains, &l.ExtendedDomains, &l.MovesAYear, &l.MoveWaitHours, l.Wildcard, l.StagingHosts}
}
