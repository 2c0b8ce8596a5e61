package membership

import (
	"context"

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
}

// Lookup returns what is known of a purchase token. It does not ask the store.
func (s *Service) Lookup(ctx context.Context, tx *addondb.DB, token string) (Known, error) {
	p, err := tx.PurchaseByToken(ctx, platform, digestOf(s.box(), token))
	return Known{Name: p.Name, User: p.UserID}, ignoreNotFound(err)
}

// ForgetSimulated deletes all purchases of the simulated store and derives memberships
// without them, in one transaction with do.
func (s *Service) ForgetSimulated(ctx context.Context, do func(tx *addondb.DB) error) error {
	return s.tx(ctx, func(tx *txn) error {
		if err := do(tx.DB); err != nil {
			return err
		}
		users, err := tx.PurchaseUsers(ctx, string(entitle.Simulated))
		if err != nil {
			return err
		}
		if err := tx.DeletePurchases(ctx, string(entitle.Simulated), SimulatedPrefix); err != nil {
			return err
		}
		return s.recompute(ctx, tx, change{environment: entitle.Simulated}, users...)
	})
}
