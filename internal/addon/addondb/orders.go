package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Order is what was paid for a purchase, of the real store alone.
type Order struct {
	ID         string
	PurchaseID int64
	DueAt      sqldb.Time // from when on it may be read
	ReadAt     sqldb.Time // zero while it has to be read
	Tries      int64      // readings that failed
	Day        string     // on which it was paid, as 2026-01-31 in UTC; "" before it was read
	Currency   string
	// Amount and Refunded are hundredths.
	Amount, Refunded int64
	RefundDay        string // "" for none
	// Application is that of the purchase; it is read only.
	Application string
}

const selectOrders = `SELECT o.order_id, o.purchase_id, o.due_at, o.read_at, o.tries, o.day, o.currency, o.amount, o.refunded, o.refund_day, coalesce(p.application, '')
	FROM orders o LEFT JOIN purchases p ON p.id = o.purchase_id `

func scanOrder(r sqldb.Row) (o Order, err error) {
	err = r.Scan(&o.ID, &o.PurchaseID, &o.DueAt, &o.ReadAt, &o.Tries, &o.Day, &o.Currency, &o.Amount, &o.Refunded, &o.RefundDay, &o.Application)
	return o, err
}

// AddOrder writes an order that has to be read, unless it is known.
func (d *DB) AddOrder(ctx context.Context, id string, purchase int64, at sqldb.Time) error {
	return d.Run(ctx, `INSERT INTO orders (order_id, purchase_id, due_at, tries, day, currency, amount, refunded, refund_day)
		VALUES ($1, $2, $3, 0, '', '', 0, 0, '') ON CONFLICT (order_id) DO NOTHING`, id, purchase, at)
}

// DueOrders lists those that have to be read by now, those that came first before the others.
func (d *DB) DueOrders(ctx context.Context, now sqldb.Time, limit int) ([]Order, error) {
	return sqldb.List(ctx, d.Queries, scanOrder, selectOrders+`WHERE o.read_at IS NULL AND o.due_at <= $1 ORDER BY o.due_at LIMIT $2`, now, limit)
}

// CountUnreadOrders counts those that have to be read.
func (d *DB) CountUnreadOrders(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM orders WHERE read_at IS NULL`)
}

// LockOrder reads one and makes others who would change it wait until the transaction ends.
func (d *DB) LockOrder(ctx context.Context, id string) (Order, error) {
	return sqldb.Locked(ctx, d.Queries, "orders", "order_id", id, func(ctx context.Context, id string) (Order, error) {
		return sqldb.One(ctx, d.Queries, scanOrder, selectOrders+`WHERE o.order_id = $1`, id)
	})
}

// UpdateOrder writes everything that a reading changes.
func (d *DB) UpdateOrder(ctx context.Context, o Order) error {
	return d.Run(ctx, `UPDATE orders SET due_at = $1, read_at = $2, tries = $3, day = $4, currency = $5, amount = $6, refunded = $7, refund_day = $8 WHERE order_id = $9`,
		o.DueAt, o.ReadAt, o.Tries, o.Day, o.Currency, o.Amount, o.Refunded, o.RefundDay, o.ID)
}

// PostponeOrders has those of an application that are due read from a time on.
func (d *DB) PostponeOrders(ctx context.Context, application string, now, at sqldb.Time) error {
	return d.Run(ctx, `UPDATE orders SET due_at = $1 WHERE read_at IS NULL AND due_at <= $2 AND purchase_id IN (SELECT id FROM purchases WHERE application = $3)`, at, now, application)
}

// RereadOrders has the orders of a purchase read again, from a time on.
func (d *DB) RereadOrders(ctx context.Context, purchase int64, at sqldb.Time) error {
	return d.Run(ctx, `UPDATE orders SET read_at = NULL, tries = 0, due_at = $1 WHERE purchase_id = $2`, at, purchase)
}
