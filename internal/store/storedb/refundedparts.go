package storedb

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// RefundedPart is a part of a purchase that was paid back. ID tells it apart from the others of the purchase.
type RefundedPart struct {
	ID     string
	Amount countersign.Money
}

// RefundedParts lists the parts of a purchase, by the digest of its code, that earlier imports have noted.
func (d *DB) RefundedParts(ctx context.Context, code Digest) ([]RefundedPart, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (p RefundedPart, err error) {
		err = r.Scan(&p.ID, &p.Amount)
		return p, err
	}, `SELECT r.part, r.amount FROM refunded_parts r JOIN purchases p ON p.id = r.purchase_id WHERE p.code_digest = $1`, code)
}

// AddRefundedPart notes a part of a purchase, unless it is noted. It reports whether it was not.
func (d *DB) AddRefundedPart(ctx context.Context, importID int64, code Digest, p RefundedPart) (bool, error) {
	added, err := d.Exec(ctx, `INSERT INTO refunded_parts (purchase_id, part, amount, import_id)
		SELECT id, CAST($2 AS text), CAST($3 AS bigint), CAST($4 AS bigint) FROM purchases WHERE code_digest = $1 ON CONFLICT DO NOTHING`, code, p.ID, int64(p.Amount), importID)
	return added > 0, err
}
