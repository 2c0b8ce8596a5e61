package byitem

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/store/storedb"
)

// Sales adds up sales by item. Its methods may be called from many goroutines.
type Sales struct{ sums *sums[storedb.Sales] }

// NewSales returns the sales of a database.
func NewSales(db *storedb.DB) Sales {
	return Sales{newSums(db, source[storedb.Sales]{
		months: func(ctx context.Context, tx *storedb.DB, of subject, from, until time.Time) ([]storedb.Month, error) {
			return tx.SalesMonths(ctx, of.workspace, from, until)
		},
		ofMonth: func(ctx context.Context, tx *storedb.DB, of subject, month string) ([]storedb.Sales, error) {
			return tx.SalesOfMonth(ctx, of.workspace, month)
		},
		ofDays: func(ctx context.Context, tx *storedb.DB, of subject, from, until time.Time) ([]storedb.Sales, error) {
			return tx.SalesByItem(ctx, of.workspace, from, until)
		},
	})}
}

// Add adds up the purchases of a workspace that were sold in a time, in the order of the items
// and of the currencies.
func (s Sales) Add(ctx context.Context, workspace int64, q storedb.SalesQuery) ([]storedb.Sales, error) {
	return s.sums.add(ctx, subject{workspace: workspace}, q.From.Time, q.Until.Time)
}
