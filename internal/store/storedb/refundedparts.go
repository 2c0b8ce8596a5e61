package storedb

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// RefundedPart is a part of a purchase that was paid back. ID tells it apart from the others of the purchase.
type RefundedPart struct {
	ID string
	// Amount is 0 for all of the purchase.
	Amount      countersign.Money
	ChargedBack bool
}

// RefundedParts lists the parts of a purchase, by the digest of its code, that earlier imports have noted.
func (d *DB) RefundedParts(ctx context.Context, code Digest) ([]RefundedPart, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (p RefundedPart, err error) {
		err = r.Scan(&p.ID, &p.Amount, &p.ChargedBack)
		return p, err
	}, `SELECT r.part, r.amount, r.charged_back FROM refunded_parts r JOIN purchases p ON p.id = r.purchase_id WHERE p.code_digest = $1`, code)
}

// AddRefundedPart notes a part of a purchase, unless it is noted. It reports whether it was not.
func (d *DB) AddRefundedPart(ctx context.Context, importID int64, code Digest, p RefundedPart) (bool, error) {
	added, err := d.Exec(ctx, `INSERT INTO refunded_parts (purchase_id, part, amount, charged_back, import_id)
		SELECT id, CAST($2 AS text), CAST($3 AS bigint), CAST($5 AS boolean), CAST($4 AS bigint) FROM purchases WHERE code_digest = $1 ON CONFLICT DO NOTHING`,
		code, p.ID, int64(p.Amount), importID, p.ChargedBack)
	return added > 0, err
}

// NoteEnded notes that the parts of a purchase have ended it, if the import has added it or found it active.
// Call it between [DB.KeepBefore] and [DB.KeepAfter].
func (d *DB) NoteEnded(ctx context.Context, importID int64, code Digest) error {
	return d.Run(ctx, `UPDATE refunded_parts SET ended_at = coalesce(p.state_at, '') FROM purchases p
		WHERE p.id = refunded_parts.purchase_id AND p.code_digest = $1 AND p.state <> 'active'
			AND (p.code_digest IN (SELECT code_digest FROM stage_new_purchases)
				OR EXISTS (SELECT 1 FROM import_purchases b WHERE b.import_id = $2 AND b.before = true AND b.id = p.id AND b.state = 'active'))`, code, importID)
}

// EndedPurchase is a purchase that its parts have ended at a time, "" for an unknown one.
type EndedPurchase struct {
	ID      int64
	Digest  Digest
	Price   countersign.Money
	State   State
	StateAt string
	EndedAt string
}

// isEnded reports whether the purchase still is what its parts have made it.
func (e EndedPurchase) isEnded() bool { return e.State != StateActive && e.StateAt == e.EndedAt }

// EndedByParts lists the purchases that parts have ended, of which an import has noted one. It locks them, and
// those that [DB.UndoPurchases] changes.
func (d *DB) EndedByParts(ctx context.Context, importID int64) ([]EndedPurchase, error) {
	if d.DB.DB().Engine() == sqldb.Postgres {
		if err := d.Run(ctx, `SELECT 1 FROM purchases WHERE id IN (SELECT id FROM import_purchases WHERE import_id = $1
			UNION SELECT purchase_id FROM refunded_parts WHERE import_id = $1) ORDER BY id FOR UPDATE`, importID); err != nil {
			return nil, err
		}
	}
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (e EndedPurchase, err error) {
		err = r.Scan(&e.ID, &e.Digest, (*int64)(&e.Price), &e.State, &e.StateAt, &e.EndedAt)
		return e, err
	}, `SELECT p.id, p.code_digest, p.price, p.state, coalesce(p.state_at, ''), max(r.ended_at) FROM refunded_parts r JOIN purchases p ON p.id = r.purchase_id
		WHERE r.ended_at IS NOT NULL AND r.purchase_id IN (SELECT purchase_id FROM refunded_parts WHERE import_id = $1)
		GROUP BY p.id, p.code_digest, p.price, p.state, p.state_at ORDER BY p.id`, importID)
}

// RemoveParts forgets the parts that an import has noted.
func (d *DB) RemoveParts(ctx context.Context, importID int64) error {
	return d.Run(ctx, `DELETE FROM refunded_parts WHERE import_id = $1`, importID)
}

// SetByParts sets a purchase of [DB.EndedByParts] to the state that its other parts say, also in what later imports
// have noted of it, and reports whether the purchase has changed.
func (d *DB) SetByParts(ctx context.Context, e EndedPurchase, state State) (bool, error) {
	const set = ` SET state = CAST($3 AS text), state_at = CASE WHEN CAST($3 AS text) <> 'active' THEN nullif(CAST($2 AS text), '') END
		WHERE id = $1 AND (state <> 'active' AND coalesce(state_at, '') = $2`
	again := e.isEnded() && state != StateActive // also if the undo has made it active
	changed, err := d.Exec(ctx, `UPDATE purchases`+set+` OR $4) AND state <> CAST($3 AS text)`, e.ID, e.EndedAt, string(state), again)
	if err != nil {
		return false, err
	}
	if err := d.Run(ctx, `UPDATE import_purchases`+set+`) AND import_id IN (SELECT id FROM imports)`, e.ID, e.EndedAt, string(state)); err != nil {
		return false, err
	}
	return changed > 0, d.Run(ctx, `UPDATE refunded_parts SET ended_at = CASE WHEN CAST($3 AS text) <> 'active' THEN CAST($2 AS text) END WHERE purchase_id = $1`, e.ID, e.EndedAt, string(state))
}
