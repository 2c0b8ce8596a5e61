package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// CauseVoided is the cause of a history row for an order that was refunded or charged back.
const CauseVoided = "voided"

// PurchaseHistory is what became of a purchase at a time.
type PurchaseHistory struct {
	ID         int64
	PurchaseID int64
	At         sqldb.Time
	Cause      string
	State      string
	Status     string
	ExpiresAt  sqldb.Time
	OrderID    string
	Detail     string
}

// AddPurchaseHistory writes a row.
func (d *DB) AddPurchaseHistory(ctx context.Context, h PurchaseHistory) error {
	return d.Run(ctx, `INSERT INTO purchase_history (purchase_id, at, cause, state, status, expires_at, order_id, detail)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, h.PurchaseID, h.At, h.Cause, h.State, h.Status, h.ExpiresAt, h.OrderID, h.Detail)
}

// PurchaseHistory lists the rows of a purchase, newest first.
func (d *DB) PurchaseHistory(ctx context.Context, purchase int64, limit int) ([]PurchaseHistory, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (h PurchaseHistory, err error) {
		err = r.Scan(&h.ID, &h.PurchaseID, &h.At, &h.Cause, &h.State, &h.Status, &h.ExpiresAt, &h.OrderID, &h.Detail)
		return h, err
	}, `SELECT id, purchase_id, at, cause, state, status, expires_at, order_id, detail FROM purchase_history
		WHERE purchase_id = $1 ORDER BY id DESC LIMIT $2`, purchase, limit)
}

// VoidedOrders lists the orders of a purchase that were refunded or charged back.
func (d *DB) VoidedOrders(ctx context.Context, purchase int64) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT order_id FROM purchase_history WHERE purchase_id = $1 AND cause = '`+CauseVoided+`'`, purchase)
}

// CountHistory counts the changes with a cause since a time that left a subscription in a status.
func (d *DB) CountHistory(ctx context.Context, cause, status string, since sqldb.Time) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM purchase_history h JOIN purchases p ON p.id = h.purchase_id
		WHERE h.cause = $1 AND h.status = $2 AND h.at >= $3 AND NOT p.one_time`, cause, status, since)
}

// ClearHistoryDetails removes what people typed from the history of a purchase.
func (d *DB) ClearHistoryDetails(ctx context.Context, purchase int64) error {
	return d.Run(ctx, `UPDATE purchase_history SET detail = '' WHERE purchase_id = $1 AND cause <> '`+CauseVoided+`'`, purchase)
}
