package requestdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/sqldb"
)

// What the counts of a day are about.
const (
	SubjectAll int64 = 0 // all calls of a workspace; their id is 0
	SubjectKey int64 = 2 // a key's
)

// DayCount is how many calls of a day have the same workspace, subject and result.
type DayCount struct {
	WorkspaceID int64
	Subject     int64
	Day         int64 // since 1970, in UTC
	ID          int64 // of the subject
	Result      string
	Calls       int64
}

// AddDays adds to the counts of days. Each of them must occur once, and in the same order by
// every server.
func (d *DB) AddDays(ctx context.Context, counts []DayCount) error {
	for _, c := range counts {
		_, err := d.Exec(ctx, `INSERT INTO request_days (workspace_id, subject, day, subject_id, result, calls) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (workspace_id, subject, day, subject_id, result) DO UPDATE SET calls = request_days.calls + excluded.calls`,
			c.WorkspaceID, c.Subject, c.Day, c.ID, c.Result, c.Calls)
		if err != nil {
			return err
		}
	}
	return nil
}

// Sum is how many calls a report counts together: by what depends on the query.
type Sum struct {
	By     int64
	Result string
	Calls  int64
}

func scanSum(r sqldb.Row) (s Sum, err error) {
	err = r.Scan(&s.By, &s.Result, &s.Calls)
	return s, err
}

// Columns of counts by which they can be added up.
const (
	ByHour = "hour"
	ByDay  = "hour / 24"
	ByItem = "item_id"
	ByKey  = "key_id"
	ByNone = "0"
)

// SumHours adds up the counts of a workspace from an hour up to another one, by a column.
func (d *DB) SumHours(ctx context.Context, workspace, from, to int64, by string) ([]Sum, error) {
	return sqldb.List(ctx, d.Queries, scanSum, fmt.Sprintf(`SELECT CAST(%[1]s AS bigint) AS by_what, result, CAST(sum(calls) AS bigint) FROM request_counts
		WHERE workspace_id = $1 AND hour >= $2 AND hour < $3 GROUP BY by_what, result`, by), workspace, from, to)
}

// SumDays is SumHours for whole days, but for [ByItem].
func (d *DB) SumDays(ctx context.Context, workspace, from, to int64, by string) ([]Sum, error) {
	subject, column := SubjectAll, "0"
	switch by {
	case ByDay:
		column = "day"
	case ByKey:
		subject, column = SubjectKey, "subject_id"
	}
	return sqldb.List(ctx, d.Queries, scanSum, fmt.Sprintf(`SELECT CAST(%[1]s AS bigint) AS by_what, result, CAST(sum(calls) AS bigint) FROM request_days
		WHERE workspace_id = $1 AND subject = $2 AND day >= $3 AND day < $4 GROUP BY by_what, result`, column), workspace, subject, from, to)
}

// SumItemHours is SumHours for one item. Each hour is looked up by itself: all items of
// the time are many.
func (d *DB) SumItemHours(ctx context.Context, workspace, item, from, to int64) ([]Sum, error) {
	marks, args := []string{"NULL"}, []any{workspace, item}
	for hour := from; hour < to; hour++ {
		args = append(args, hour)
		marks = append(marks, fmt.Sprintf("$%d", len(args)))
	}
	return sqldb.List(ctx, d.Queries, scanSum, `SELECT CAST(0 AS bigint) AS by_what, result, CAST(sum(calls) AS bigint) FROM request_counts
		WHERE workspace_id = $1 AND item_id = $2 AND hour IN (`+strings.Join(marks, ", ")+`) GROUP BY result`, args...)
}
