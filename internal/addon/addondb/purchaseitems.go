package addondb

import (
	"cmp"
	"context"
	"math"

	"github.com/countersign/countersign/internal/sqldb"
)

// PurchaseItem is a product of a purchase.
type PurchaseItem struct {
	ProductID  string
	BasePlanID string
	OfferID    string
	Phase      string
	OrderID    string
	ExpiresAt  sqldb.Time
	PackageID  int64 // 0 while the product is not mapped
	Counts     bool  // it is paid
	Prepaid    bool
	WillRenew  bool
	Action     string // what the user has to do
	Deferred   string // the product that replaces it at its end
	// Price is the decimal amount of a renewal, "" when it is not known.
	Currency, Price string
	// Days is what a one-time product grants, 0 for ever, and Quantity how many were bought and not refunded. Both are 0
	// for a subscription.
	Days, Quantity int64
}

const itemColumns = `product_id, base_plan_id, offer_id, phase, order_id, expires_at, package_id, counts, prepaid, will_renew, action, deferred, currency, price, days, quantity`

func scanPurchaseItem(r sqldb.Row) (i PurchaseItem, err error) {
	err = r.Scan(&i.ProductID, &i.BasePlanID, &i.OfferID, &i.Phase, &i.OrderID, &i.ExpiresAt, &i.PackageID, &i.Counts, &i.Prepaid, &i.WillRenew,
		&i.Action, &i.Deferred, &i.Currency, &i.Price, &i.Days, &i.Quantity)
	return i, err
}

// PurchaseItems lists the items of a purchase in the store's order.
func (d *DB) PurchaseItems(ctx context.Context, purchase int64) ([]PurchaseItem, error) {
	return sqldb.List(ctx, d.Queries, scanPurchaseItem, `SELECT `+itemColumns+` FROM purchase_items WHERE purchase_id = $1 ORDER BY position`, purchase)
}

// SetPurchaseItems replaces the items of a purchase.
func (d *DB) SetPurchaseItems(ctx context.Context, purchase int64, items []PurchaseItem) error {
	if err := d.Run(ctx, `DELETE FROM purchase_items WHERE purchase_id = $1`, purchase); err != nil {
		return err
	}
	for n, i := range items {
		err := d.Run(ctx, `INSERT INTO purchase_items (purchase_id, position, `+itemColumns+`) VALUES `+sqldb.Placeholders(1, 18, 1),
			purchase, n, i.ProductID, i.BasePlanID, i.OfferID, i.Phase, i.OrderID, i.ExpiresAt, i.PackageID, i.Counts, i.Prepaid, i.WillRenew,
			i.Action, i.Deferred, i.Currency, i.Price, i.Days, i.Quantity)
		if err != nil {
			return err
		}
	}
	return nil
}

// PaidDays is a one-time product of a number of days that was paid.
type PaidDays struct {
	PaidAt sqldb.Time
	Days   int64
}

// PaidDays lists those of a user and a package that were not refunded, in the order in which they were paid, before a
// purchase: the time when that was paid and its id, 0 for a new one.
func (d *DB) PaidDays(ctx context.Context, user, environment string, pack int64, paidAt sqldb.Time, id int64) ([]PaidDays, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (p PaidDays, err error) {
		err = r.Scan(&p.PaidAt, &p.Days)
		return p, err
	}, `SELECT p.started_at, i.days * i.quantity FROM purchases p JOIN purchase_items i ON i.purchase_id = p.id
		WHERE p.user_id = $1 AND p.environment = $2 AND i.package_id = $3 AND i.days > 0 AND p.status IN ('active', 'expired')
		AND (p.started_at, p.id) < ($4, $5) ORDER BY p.started_at, p.id, i.position`, user, environment, pack, paidAt, cmp.Or(id, math.MaxInt64))
}

// RunningDays lists the names of a user's purchases for some days that have not ended and were paid after one: the time
// when that was paid, zero for all, and its id.
func (d *DB) RunningDays(ctx context.Context, user string, paidAt sqldb.Time, id int64) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT name FROM purchases WHERE user_id = $1 AND one_time AND status = 'active'
		AND expires_at IS NOT NULL AND (started_at, id) > (coalesce($2, ''), $3) ORDER BY started_at, id`, user, paidAt, id)
}

// PurchaseSource is an item of a purchase as a source of its owner's membership.
type PurchaseSource struct {
	PurchaseID int64
	Status     string
	// Access is that of the purchase, Counts that of the item.
	Access, Counts, Unverified, WillRenew bool
	PackageID                             int64
	Rank                                  int64 // -1 for a package that was removed
	ProductID                             string
	Environment                           string
	Action                                string
	StartedAt, ExpiresAt                  sqldb.Time
}

// PurchaseSources lists the items of all purchases of a user that none has replaced.
func (d *DB) PurchaseSources(ctx context.Context, user string) ([]PurchaseSource, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (s PurchaseSource, err error) {
		err = r.Scan(&s.PurchaseID, &s.Status, &s.Access, &s.Counts, &s.Unverified, &s.WillRenew, &s.PackageID, &s.Rank, &s.ProductID,
			&s.Environment, &s.Action, &s.StartedAt, &s.ExpiresAt)
		return s, err
	}, `SELECT p.id, p.status, p.access, i.counts, p.unverified, i.will_renew, i.package_id, coalesce(k.rank, -1), i.product_id,
			p.environment, i.action, p.started_at, i.expires_at
		FROM purchases p JOIN purchase_items i ON i.purchase_id = p.id LEFT JOIN packages k ON k.id = i.package_id
		WHERE p.user_id = $1 AND p.superseded_by IS NULL ORDER BY p.id, i.position`, user)
}
