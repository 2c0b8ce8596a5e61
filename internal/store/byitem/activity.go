package byitem

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/store/storedb"
)

// Activity counts by item what buyers did. Its methods may be called from many goroutines.
type Activity struct{ sums *sums[storedb.Activity] }

// NewActivity returns the activity in a database.
func NewActivity(db *storedb.DB) Activity {
	return Activity{newSums(db, source[storedb.Activity]{
		months: func(ctx context.Context, tx *storedb.DB, of subject, from, until time.Time) ([]storedb.Month, error) {
			return tx.ActivityMonths(ctx, of.workspace, of.kind, from, until)
		},
		ofMonth: func(ctx context.Context, tx *storedb.DB, of subject, month string) ([]storedb.Activity, error) {
			return tx.ActivityOfMonth(ctx, of.workspace, of.kind, month)
		},
		ofDays: func(ctx context.Context, tx *storedb.DB, of subject, from, until time.Time) ([]storedb.Activity, error) {
			return tx.ActivityByItem(ctx, of.workspace, of.kind, from, until)
		},
	})}
}

// Add counts what the buyers of a workspace did in a time, in the order of the items.
func (a Activity) Add(ctx context.Context, workspace int64, q storedb.ActivityQuery) ([]storedb.Activity, error) {
	return a.sums.add(ctx, subject{workspace, q.Kind}, q.From, q.Until)
}
