package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Order is what was paid for a purchase, of the real store alone.
type Order struct {
	ID         string
	PurchaseID int64
	SeenAt     sqldb.Time
	ReadAt     sqldb.Time // zero while it has to be read
	Tries      int64      // readings that failed
	Day        string     // on which it was paid, as 2026-01-31 in UTC; "" before it was read
	Currency   string
	// Amount and Refunded are hundredths.
	Amount, Refunded int64
	RefundDay        string // "" for none
}

const selectOrders = `SELECT order_id, purchase_id, seen_at, read_at, tries, day, currency, amount, refunded, refund_day FROM orders `

func scanOrder(r sqldb.Row) (o Order, err error) {
	err = r.Scan(&o.ID, &o.PurchaseID, &o.SeenAt, &o.ReadAt, &o.Tries, &o.Day, &o.Currency, &o.Amount, &o.Refunded, &o.RefundDay)
	return o, err
}

// AddOrder writes an order that has to be read. It reports false for one that is known.
func (d *DB) AddOrder(ctx context.Context, id string, purchase int64, at sqldb.Time) (added bool, err error) {
	changed, err := d.Exec(ctx, `INSERT INTO orders (order_id, purchase_id, seen_at, tries, day, currency, amount, refunded, refund_day)
		VALUES ($1, $2, $3, 0, '', '', 0, 0, '') ON CONFLICT (order_id) DO NOTHING`, id, purchase, at)
	return changed > 0, err
}

// UnreadOrders lists those that have to be read, those that came first before the others.
func (d *DB) UnreadOrders(ctx context.Context, limit int) ([]Order, error) {
	return sqldb.List(ctx, d.Queries, scanOrder, selectOrders+`WHERE read_at IS NULL ORDER BY tries, seen_at LIMIT $1`, limit)
}

// CountUnreadOrders counts those that have to be read.
func (d *DB) CountUnreadOrders(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM orders WHERE read_at IS NULL`)
}

// LockOrder reads one and makes others who would change it wait until the transaction ends.
func (d *DB) LockOrder(ctx context.Context, id string) (Order, error) {
	return sqldb.Locked(ctx, d.Queries, "orders", "order_id", id, func(ctx context.Context, id string) (Order, error) {
		return sqldb.One(ctx, d.Queries, scanOrder, selectOrders+`WHERE order_id = $1`, id)
	})
}

// UpdateOrder writes everything that a reading changes.
func (d *DB) UpdateOrder(ctx context.Context, o Order) error {
	return d.Run(ctx, `UPDATE orders SET read_at = $1, tries = $2, day = $3, currency = $4, amount = $5, refunded = $6, refund_day = $7 WHERE order_id = $8`,
		o.ReadAt, o.Tries, o.Day, o.Currency, o.Amount, o.Refunded, o.RefundDay, o.ID)
}

// RereadOrders has the orders of a purchase read again.
func (d *DB) RereadOrders(ctx context.Context, purchase int64) error {
	return d.Run(ctx, `UPDATE orders SET read_at = NULL, tries = 0 WHERE purchase_id = $1`, purchase)
}
