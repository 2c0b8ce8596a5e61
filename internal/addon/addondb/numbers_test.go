package addondb

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// The update moves the purchases of now to the sums of their products, and changes no total.
func TestPurchasesOfBeforeAreCountedByProduct(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at, "00018")
		for n, statement := range []string{
			`INSERT INTO numbers (day, measure, currency, part, value) VALUES ('2026-11-01', 'active', '', 3, 5), ('2026-11-01', 'new', '', 0, 5), ('2026-11-01', 'revenue', 'EUR', 0, 499)`,
			`INSERT INTO purchases (name, platform, token_digest, sealed, retires, user_id, transferred, environment, application, state, status, status_since, access,
				unverified, canceled_by, region, account_id, pending_order, acknowledged, reads, read_at, created_at)
				VALUES ('pur_1', 'store', $1, $1, false, '7', false, 'production', 'a.b', 'ACTIVE', 'active', '2026-11-01T12:00:00Z', true,
				false, '', '', '', '', true, 1, '2026-11-01T12:00:00Z', '2026-11-01T12:00:00Z')`,
			`INSERT INTO purchase_items (purchase_id, position, product_id, base_plan_id, offer_id, phase, order_id, package_id, counts, prepaid, will_renew, action, deferred, currency, price)
				VALUES (1, 0, 'extra', 'monthly', '', '', '', 0, true, false, true, '', '', '', ''), (1, 1, 'gold', 'yearly', '', '', '', 2, true, false, true, '', '', '', '')`,
		} {
			var values []any
			if n == 1 {
				values = []any{[]byte("one")}
			}
			must.Get(db.Queries().Exec(t.Context(), statement, values...))(t)
		}
		must.Do(t, db.Close())
		now := migrated(t, at, "~")
		t.Cleanup(func() { _ = now.Close() })
		totals, errTotals := New(now).Numbers(t.Context(), "", "9999-12-31")
		plans, errPlans := New(now).NumbersByPlan(t.Context(), "", "9999-12-31")
		want := []Number{{Day: "2026-11-01", Measure: "active", Value: 5}, {Day: "2026-11-01", Measure: "new", Value: 5}, {Day: "2026-11-01", Measure: "revenue", Currency: "EUR", Value: 499}}
		if errTotals != nil || !slices.Equal(totals, want) {
			t.Errorf("%+v, %v", totals, errTotals)
		}
		if want := []Number{{Measure: "active", Product: "gold", Plan: "yearly", Value: 1}}; errPlans != nil || !slices.Equal(plans, want) {
			t.Errorf("%+v, %v", plans, errPlans)
		}
	})
}
