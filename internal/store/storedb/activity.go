package storedb

import (
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
	ActivityByItem   ActivityBy = "item_id"
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

// Activity counts what buyers of a workspace did in a time, in the order of the split.
func (d *DB) Activity(ctx context.Context, workspace int64, q ActivityQuery) ([]Activity, error) {
	columns := "'', 0"
	switch q.By {
	case ActivityByDay:
		columns = "day, 0"
	case ActivityByItem:
		columns = "'', item_id"
	}
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (a Activity, err error) {
		err = r.Scan(&a.Day, &a.Item, &a.Count)
		return a, err
	}, `SELECT `+columns+`, CAST(sum(count) AS bigint) FROM activity_days
		WHERE kind = $1 AND workspace_id = $2 AND day >= $3 AND day < $4 GROUP BY 1, 2 ORDER BY 1, 2`,
		string(q.Kind), workspace, dayText(q.From), dayText(q.Until))
}
