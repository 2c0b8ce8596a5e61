package membership

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

// walk finds the predecessors of a purchase (1.7). The store is asked for those behind the last one when the purchase
// is seen first: a known one may lie behind others that were never seen here, or be presented later.
func (s *Service) walk(ctx context.Context, store Store, r *reading) error {
	if next := r.sub.LinkedToken; next != "" && (len(r.before) == 0 || r.before[0] != next) {
		r.before, r.walked = nil, true
		for err := error(nil); next != "" && next != r.token && !slices.Contains(r.before, next); {
			r.before = append(r.before, next)
			if len(r.before) == entitle.MaxChain {
				break
			}
			if next, err = s.before(ctx, store, next); err != nil {
				return err
			}
		}
	}
	for _, token := range r.before {
		r.chain = append(r.chain, digestOf(s.box(), token))
	}
	r.retires = entitle.Retires(r.sub) && (r.walked || !r.known.Retires)
	return nil
}

// before returns the token that another one takes the place of, "" for none that is known.
func (s *Service) before(ctx context.Context, store Store, token string) (string, error) {
	known, err := s.db.PurchaseByToken(ctx, platform, digestOf(s.box(), token))
	if err == nil {
		if stored, err := openTokens(s.box(), known); err == nil {
			return stored.Linked, nil
		}
	} else if !errors.Is(err, sqldb.ErrNotFound) {
		return "", err
	}
	sub, err := store.Subscription(ctx, token)
	switch reason, _ := reasonOf(err); {
	case reason == play.InvalidToken || reason == play.TokenNotFound || reason == play.Gone:
		return "", nil
	case err != nil:
		return "", refusal(err)
	}
	return linkedToken(sub), nil
}

// linkedToken is the token whose place a purchase takes, "" for none.
func linkedToken(sub play.Subscription) string {
	if sub.LinkedToken == "" && sub.OutOfApp != nil {
		return sub.OutOfApp.ExpiredToken
	}
	return sub.LinkedToken
}

// lockChain has the transactions that see tokens of one chain first wait for each other, and returns the predecessors that
// are known.
func (s *Service) lockChain(ctx context.Context, tx *addondb.DB, row addondb.Purchase, r *reading) (known []addondb.Purchase, err error) {
	if row.ID == 0 {
		if err := tx.NoteToken(ctx, r.digest); err != nil {
			return nil, err
		}
	}
	if !r.walked && !r.retires {
		return nil, nil
	}
	for _, digest := range r.chain {
		if err := tx.NoteToken(ctx, digest); err != nil {
			return nil, err
		}
		p, err := s.lockByToken(ctx, tx, digest)
		if err != nil {
			return nil, err
		}
		if p.ID != 0 {
			known = append(known, p)
		}
	}
	return known, nil
}

// setSuccessor notes that a purchase takes the place of all its predecessors, or will do so, also of those that are seen
// later.
func setSuccessor(ctx context.Context, tx *addondb.DB, r *reading, purchase int64) error {
	set := tx.SetSuccessor
	if !r.retires {
		set = tx.SetFirstSuccessor
	}
	if !r.walked && !r.retires {
		return nil
	}
	for _, digest := range r.chain {
		if err := set(ctx, digest, purchase); err != nil {
			return err
		}
	}
	return nil
}
