package membership

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
)

// SimulatedPrefix begins the ids of the notifications that the simulated store sends.
const SimulatedPrefix = "simulated-"

// Known is what is known of a purchase token.
type Known struct {
	// Name is the id of the purchase that others see, "" for a token that was never verified.
	Name string
	User string
	// ExpiresAt is the end of the paid time, zero for none. Access reports that it has not been noticed yet.
	ExpiresAt time.Time
	Access    bool
}

// Lookup returns what is known of a purchase token. It does not ask the store.
func (s *Service) Lookup(ctx context.Context, tx *addondb.DB, token string) (Known, error) {
	p, err := tx.PurchaseByToken(ctx, platform, digestOf(s.box(), token))
	return Known{Name: p.Name, User: p.UserID, ExpiresAt: p.ExpiresAt.Time, Access: p.Access}, ignoreNotFound(err)
}

// ForgetSimulated deletes all purchases of the simulated store and derives memberships
// without them, at the end of a transaction. The caller has emptied the store, in the same transaction.
func (s *Service) ForgetSimulated(ctx context.Context, db *addondb.DB) error {
	return s.in(ctx, db, func(tx *txn) error {
		users, err := tx.SimulatedUsers(ctx)
		if err != nil {
			return err
		}
		if err := tx.DeleteSimulated(ctx, SimulatedPrefix); err != nil {
			return err
		}
		return s.recompute(ctx, tx, change{environment: entitle.Simulated}, users...)
	})
}

// stillSimulated is errStale when the simulated store was emptied since it answered, or with it the test mode ended.
// Whoever empties it later deletes what this transaction writes.
func (s *Service) stillSimulated(ctx context.Context, tx *txn, r *reading) error {
	if r.environment != entitle.Simulated {
		return nil
	}
	sealed, err := tx.LockSimulator(ctx, s.timestamp())
	if err == nil && len(sealed) == 0 {
		err = errStale
	}
	return err
}
