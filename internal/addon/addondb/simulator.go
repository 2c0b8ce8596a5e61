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

const simulatedPurchases = `(SELECT id FROM purchases WHERE environment = 'simulated')`

// SimulatedUsers lists the users with a purchase of the simulated store, with a claim to one, or with a verification that
// waits for it.
func (d *DB) SimulatedUsers(ctx context.Context) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT user_id FROM purchases WHERE environment = 'simulated' AND user_id <> ''
		UNION SELECT user_id FROM queued_verifications WHERE simulated
		UNION SELECT user_id FROM owner_claims WHERE purchase_id IN `+simulatedPurchases+` ORDER BY user_id`)
}

// DeleteSimulated deletes the purchases of the simulated store, with their items and history, the verifications that wait for
// it, and the notifications whose id begins with a prefix. Whoever calls it derives the memberships
// of [DB.SimulatedUsers] again in the same transaction.
func (d *DB) DeleteSimulated(ctx context.Context, prefix string) error {
	for _, statement := range []string{
		`DELETE FROM purchase_items WHERE purchase_id IN ` + simulatedPurchases,
		`DELETE FROM purchase_history WHERE purchase_id IN ` + simulatedPurchases,
		`DELETE FROM owner_claims WHERE purchase_id IN ` + simulatedPurchases,
		`DELETE FROM token_successors WHERE successor IN ` + simulatedPurchases + ` OR token_digest IN (SELECT token_digest FROM purchases WHERE environment = 'simulated')`,
		`DELETE FROM purchases WHERE environment = 'simulated'`,
		`DELETE FROM queued_verifications WHERE simulated`,
	} {
		if err := d.Run(ctx, statement); err != nil {
			return err
		}
	}
	return d.Run(ctx, `DELETE FROM inbox WHERE substr(message_id, 1, $1) = $2`, len(prefix), prefix)
}
