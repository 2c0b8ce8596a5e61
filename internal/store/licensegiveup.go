package store

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// GiveUpLicense ends the license that a purchase has for a domain, as its buyer
// asks, and frees the domain. It counts as a move, or else who gives a license up
// and asks for another one would go round the limit of moves; that of a test domain
// counts for nothing. One that was given up already is given again and nothing
// changes, so that it can be repeated safely.
//
// Beside the errors of a validation there is one of kind Invalid (domain_invalid),
// and the Conflicts moves_used and move_too_soon, which say when to come back, and
// domain_not_activated for a domain that is not in use.
func (s *Store) GiveUpLicense(ctx context.Context, a people.Actor, code, domain string) (License, error) {
	h, err := s.holding(ctx, a, code)
	if err != nil {
		return License{}, err
	}
	d, err := license.ParseDomain(domain, license.DomainRule{Wildcard: true, Staging: h.Licensing.StagingHosts})
	if err != nil {
		return License{}, asSentence(err)
	}
	l, err := h.toGiveUp(d)
	if err == nil && l.Ended == "" {
		l, err = s.giveUp(ctx, a, h.Digest, d)
	}
	return License{License: l, Licensee: h.Licensee}, err
}

func (s *Store) giveUp(ctx context.Context, a people.Actor, digest storedb.Digest, d license.Domain) (storedb.License, error) {
	var l storedb.License
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		h, err := s.lockHolding(ctx, tx, a, digest)
		if err != nil {
			return err
		}
		if l, err = h.toGiveUp(d); err != nil || l.Ended != "" {
			return err
		}
		l.Ended, l.EndedAt = storedb.EndingGivenUp, s.timestamp()
		if err := tx.EndLicense(ctx, l.ID, l.Ended, l.EndedAt); err != nil {
			return err
		}
		return s.audit(ctx, tx, a, "license.revoke", h.Workspace, l.ID, d.Name)
	})
	return l, err
}

// toGiveUp finds the license for a domain that its buyer may give up now, or the one
// that was the last for this domain and was given up.
func (h holding) toGiveUp(d license.Domain) (storedb.License, error) {
	var last storedb.License
	for _, l := range h.list {
		switch {
		case l.Domain != d.Name:
		case l.Ended == "" && l.Free:
			return l, nil
		case l.Ended == "":
			return l, h.mayMove()
		case !l.EndedAt.Before(last.EndedAt.Time):
			last = l
		}
	}
	if last.Ended != storedb.EndingGivenUp {
		return storedb.License{}, notActivated(d.Name+" is not in use with this purchase code", h.inUse(h.isFree(d)))
	}
	return last, nil
}
