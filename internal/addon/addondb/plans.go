package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// SetPlan writes the period of a base plan of the store's catalogue.
func (d *DB) SetPlan(ctx context.Context, product, plan, period string) error {
	return d.Run(ctx, `INSERT INTO plans (product_id, base_plan_id, period) VALUES ($1, $2, $3)
		ON CONFLICT (product_id, base_plan_id) DO UPDATE SET period = excluded.period`, product, plan, period)
}

// Recurring is how many products that renew have one base plan and one price.
type Recurring struct {
	Product, Plan string
	// Currency and Price are of a renewal.
	Currency, Price string
	Period          string // "" while the catalogue was not read
	Count           int64
}

// Recurring counts the products of purchases of an environment that renew, without those in a free trial.
func (d *DB) Recurring(ctx context.Context, environment string) ([]Recurring, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (c Recurring, err error) {
		err = r.Scan(&c.Product, &c.Plan, &c.Currency, &c.Price, &c.Period, &c.Count)
		return c, err
	}, `SELECT i.product_id, i.base_plan_id, i.currency, i.price, coalesce(k.period, ''), count(*)
		FROM purchases p JOIN purchase_items i ON i.purchase_id = p.id
			LEFT JOIN plans k ON k.product_id = i.product_id AND k.base_plan_id = i.base_plan_id
		WHERE p.environment = $1 AND p.superseded_by IS NULL AND p.access AND i.counts AND i.will_renew AND i.phase <> 'free_trial' AND i.price <> ''
		GROUP BY i.product_id, i.base_plan_id, i.currency, i.price, coalesce(k.period, '')
		ORDER BY i.product_id, i.base_plan_id, i.currency, i.price`, environment)
}
