package addondb

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/sqldb"
)

// simulatorID is the id of the only row.
const simulatorID = 1

// Simulator reads the sealed state of the simulated store, empty while nothing was bought.
func (d *DB) Simulator(ctx context.Context) (sealed []byte, err error) {
	sealed, err = sqldb.One(ctx, d.Queries, sqldb.Value[[]byte], `SELECT sealed FROM simulator WHERE id = $1`, simulatorID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil
	}
	return sealed, err
}

// LockSimulator is Simulator, and makes others who would change the state wait until the
// transaction ends.
func (d *DB) LockSimulator(ctx context.Context, at sqldb.Time) (sealed []byte, err error) {
	err = d.Run(ctx, `INSERT INTO simulator (id, sealed, changed_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, simulatorID, []byte{}, at)
	if err != nil {
		return nil, err
	}
	if err := d.Lock(ctx, "simulator", "id", simulatorID); err != nil {
		return nil, err
	}
	return d.Simulator(ctx)
}

// SetSimulator replaces the sealed state.
func (d *DB) SetSimulator(ctx context.Context, sealed []byte, at sqldb.Time) error {
	return d.Run(ctx, `UPDATE simulator SET sealed = $1, changed_at = $2 WHERE id = $3`, sealed, at, simulatorID)
}

// PurchaseUsers lists the users with a purchase of an environment.
func (d *DB) PurchaseUsers(ctx context.Context, environment string) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT DISTINCT user_id FROM purchases WHERE environment = $1 AND user_id <> '' ORDER BY user_id`, environment)
}

// DeletePurchases deletes the purchases of an environment, with their items and history, and
// the notifications whose id begins with a prefix. Whoever calls it derives the memberships
// of [DB.PurchaseUsers] again in the same transaction.
func (d *DB) DeletePurchases(ctx context.Context, environment, prefix string) error {
	for _, table := range []string{"purchase_items", "purchase_history"} {
		err := d.Run(ctx, `DELETE FROM `+table+` WHERE purchase_id IN (SELECT id FROM purchases WHERE environment = $1)`, environment)
		if err != nil {
			return err
		}
	}
	err := d.Run(ctx, `DELETE FROM token_successors WHERE successor IN (SELECT id FROM purchases WHERE environment = $1)
		OR token_digest IN (SELECT token_digest FROM purchases WHERE environment = $1)`, environment)
	if err != nil {
		return err
	}
	if err := d.Run(ctx, `DELETE FROM purchases WHERE environment = $1`, environment); err != nil {
		return err
	}
	return d.Run(ctx, `DELETE FROM inbox WHERE substr(message_id, 1, $1) = $2`, len(prefix), prefix)
}
