package storedb

import (
	"cmp"
	"context"
	"time"

	"github.com/countersign/countersign/internal/sqldb"
)

// ActivityKind is what buyers did.
type ActivityKind string

// The kinds of activity.
const (
	LicensesIssued  ActivityKind = "license"
	FilesDownloaded ActivityKind = "download" // by a link, the first time
)

// ActivityBy is what activity is split by.
type ActivityBy string

// The splits.
const (
	ActivityByDay    ActivityBy = "day" // in UTC
	ActivityByItem   ActivityBy = "item"
	ActivityTogether ActivityBy = ""
)

// ActivityQuery asks for the activity of a time.
type ActivityQuery struct {
	Kind ActivityKind
	// From is the first day in UTC, Until the one behind the last.
	From, Until time.Time
	By          ActivityBy
}

// Activity is how often buyers did something.
type Activity struct {
	Day   string // as 2026-01-31; by day
	Item  int64  // by item
	Count int64
}

// Compare compares activity by item.
func (a Activity) Compare(b Activity) int { return cmp.Compare(a.Item, b.Item) }

// Plus adds the activity of the same item sign times.
func (a Activity) Plus(b Activity, sign int64) Activity {
	return Activity{Item: b.Item, Count: a.Count + sign*b.Count}
}

// IsZero reports whether nothing was done.
func (a Activity) IsZero() bool { return a.Count == 0 }

// ActivityOfDays counts what buyers of a workspace did in a time, together or by day, in the
// order of the days.
func (d *DB) ActivityOfDays(ctx context.Context, workspace int64, q ActivityQuery) ([]Activity, error) {
	by := "''"
	if q.By == ActivityByDay {
		by = "day"
	}
	return sqldb.List(ctx, d.Queries, scanActivity, `SELECT `+by+`, 0, CAST(sum(count) AS bigint) FROM activity_totals
		WHERE kind = $1 AND workspace_id = $2 AND day >= $3 AND day < $4 GROUP BY 1 ORDER BY 1`,
		string(q.Kind), workspace, dayText(q.From), dayText(q.Until))
}

// ActivityByItem counts what buyers of a workspace did from a day up to another one, in the
// order of the items.
func (d *DB) ActivityByItem(ctx context.Context, workspace int64, kind ActivityKind, from, until time.Time) ([]Activity, error) {
	return sqldb.List(ctx, d.Queries, scanActivity, `SELECT '', item_id, CAST(sum(count) AS bigint) FROM activity_days
		WHERE kind = $1 AND workspace_id = $2 AND day >= $3 AND day < $4 GROUP BY 2 ORDER BY 2`,
		string(kind), workspace, dayText(from), dayText(until))
}

// ActivityMonths lists the months of a workspace from one up to another one.
func (d *DB) ActivityMonths(ctx context.Context, workspace int64, kind ActivityKind, from, until time.Time) ([]Month, error) {
	return sqldb.List(ctx, d.Queries, scanMonth, `SELECT substr(day, 1, 7), CAST(sum(count) AS bigint) FROM activity_totals
		WHERE kind = $1 AND workspace_id = $2 AND day >= $3 AND day < $4 GROUP BY 1 ORDER BY 1`,
		string(kind), workspace, dayText(from), dayText(until))
}

// ActivityOfMonth counts what buyers of a workspace did in a month, in the order of the items.
func (d *DB) ActivityOfMonth(ctx context.Context, workspace int64, kind ActivityKind, month string) ([]Activity, error) {
	return sqldb.List(ctx, d.Queries, scanActivity, `SELECT '', item_id, CAST(sum(count) AS bigint) FROM activity_months
		WHERE kind = $1 AND workspace_id = $2 AND month = $3 GROUP BY 2 ORDER BY 2`, string(kind), workspace, month)
}

func scanActivity(r sqldb.Row) (a Activity, err error) {
	err = r.Scan(&a.Day, &a.Item, &a.Count)
	return a, err
}
