package licensing

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// GiveUp ends the license that a purchase has for a domain, as its buyer
// asks, and frees the domain. id says which license is meant, and another one stays
// as it is; it may be empty. It counts as a move, or else who gives a license up
// and asks for another one would go round the limit of moves; that of a test domain
// counts for nothing. One that was given up already is given again and nothing
// changes, so that it can be repeated safely.
//
// Beside the errors of a validation there is one of kind Invalid (domain_invalid),
// and the Conflicts moves_used and move_too_soon, which say when to come back, and
// domain_not_activated for a domain, or a license, that is not in use.
func (s *Service) GiveUp(ctx context.Context, a people.Actor, code, domain, id string) (License, error) {
	h, err := s.holding(ctx, a, code)
	if err != nil {
		return License{}, err
	}
	d, err := license.ParseDomain(domain, license.DomainRule{Wildcard: true, Staging: h.Licensing.StagingHosts})
	if err != nil {
		return License{}, asSentence(err)
	}
	l, err := h.toGiveUp(d, id)
	if err == nil && l.Ended == "" {
		l, err = s.giveUp(ctx, a, h.Purchase.ID, d, id)
	}
	return License{License: l, Licensee: h.Licensee}, err
}

func (s *Service) giveUp(ctx context.Context, a people.Actor, purchase int64, d license.Domain, id string) (storedb.License, error) {
	var l storedb.License
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		h, err := s.lockHolding(ctx, tx, a, purchase)
		if err != nil {
			return err
		}
		if l, err = h.toGiveUp(d, id); err != nil || l.Ended != "" {
			return err
		}
		l.Ended, l.EndedAt = storedb.EndingGivenUp, s.timestamp()
		if err := tx.EndLicense(ctx, l.ID, l.Ended, l.EndedAt); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionRevoke, Workspace: h.Workspace, Subject: l.ID, Detail: d.Name})
	})
	return l, err
}

// toGiveUp finds the license for a domain that its buyer may give up now, or the one
// that was the last for this domain and was given up. id narrows both to one.
func (h holding) toGiveUp(d license.Domain, id string) (storedb.License, error) {
	var last storedb.License
	for _, l := range h.Licenses {
		switch {
		case l.Domain != d.Name, id != "" && l.ID != id:
		case l.Ended == "" && l.Free:
			return l, nil
		case l.Ended == "":
			return l, h.mayMove()
		case !l.EndedAt.Before(last.EndedAt.Time):
			last = l
		}
	}
	if last.Ended != storedb.EndingGivenUp {
		message := d.Name + " is not in use with this purchase code"
		if id != "" {
			message = "This license for " + message
		}
		return storedb.License{}, notActivated(message, h.inUse(h.isFree(d)))
	}
	return last, nil
}
