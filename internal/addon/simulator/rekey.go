package simulator

import (
	"context"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// Lost reports whether an old key file, nil when it is lost, can't open the state of the
// simulated store any more.
func Lost(ctx context.Context, db *addondb.DB, old *keyfile.Box) (bool, error) {
	sealed, err := db.Simulator(ctx)
	return len(sealed) > 0 && keyfile.Reseal(old, old, sealPurpose, sealed) == nil, err
}

// Reseal brings the state from an old key file, nil when it is lost, to a new one. A store that
// can't be opened begins anew, without purchases.
func Reseal(ctx context.Context, tx *addondb.DB, old, fresh *keyfile.Box, now sqldb.Time) error {
	sealed, err := tx.LockSimulator(ctx, now)
	if err != nil || len(sealed) == 0 {
		return err
	}
	again := keyfile.Reseal(old, fresh, sealPurpose, sealed)
	if again == nil {
		again = []byte{}
	}
	return tx.SetSimulator(ctx, again, now)
}
