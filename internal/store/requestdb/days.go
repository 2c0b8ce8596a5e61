package requestdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/sqldb"
)

// What the counts of a day are about. Those of items are added up when the day is over, the few others with each call.
const (
	SubjectAll  int64 = iota // all calls of a workspace; their id is 0
	SubjectItem              // an item's
	SubjectKey               // a key's
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

// DaysDone returns the last day that [DB.SumDay] was run for, 0 for none; days count from 1970.
func (d *DB) DaysDone(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT coalesce(max(day), 0) FROM request_days_done`)
}

// FirstCountedDay returns the first day that has counts after a day, 0 when there is none.
func (d *DB) FirstCountedDay(ctx context.Context, workspaces []int64, after int64) (first int64, err error) {
	for _, w := range workspaces {
		day, err := sqldb.One(ctx, d.Queries, sqldb.Value[int64],
			`SELECT coalesce(min(hour), 0) / 24 FROM request_counts WHERE workspace_id = $1 AND hour >= $2`, w, (after+1)*24)
		if err != nil {
			return 0, err
		}
		if day != 0 && (first == 0 || day < first) {
			first = day
		}
	}
	return first, nil
}

// CountedWorkspaces lists the workspaces that have counts.
func (d *DB) CountedWorkspaces(ctx context.Context) (all []int64, err error) {
	for last := int64(-1); ; {
		list, err := sqldb.List(ctx, d.Queries, sqldb.Value[int64],
			`SELECT workspace_id FROM request_counts WHERE workspace_id > $1 ORDER BY workspace_id LIMIT 1`, last)
		if err != nil || len(list) == 0 {
			return all, err
		}
		last = list[0]
		all = append(all, last)
	}
}

// SumDay adds up the hours of the items of a day that is over, inside a transaction;
// [sqldb.ErrExists] when another server did.
func (d *DB) SumDay(ctx context.Context, workspaces []int64, day int64) error {
	if _, err := d.Exec(ctx, `INSERT INTO request_days_done (day) VALUES ($1)`, day); err != nil {
		return err
	}
	for _, w := range workspaces {
		_, err := d.Exec(ctx, `INSERT INTO request_days (workspace_id, subject, day, subject_id, result, calls)
			SELECT CAST($1 AS bigint), CAST($2 AS bigint), CAST($3 AS bigint), item_id, result, sum(calls) FROM request_counts
			WHERE workspace_id = $1 AND hour >= $4 AND hour < $5 GROUP BY item_id, result`, w, SubjectItem, day, day*24, (day+1)*24)
		if err != nil {
			return err
		}
	}
	return nil
}

// DeleteCounts deletes the counts of a workspace before an hour.
func (d *DB) DeleteCounts(ctx context.Context, workspace, hour int64) error {
	_, err := d.Exec(ctx, `DELETE FROM request_counts WHERE workspace_id = $1 AND hour < $2`, workspace, hour)
	return err
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

// SumDays is SumHours for whole days; those of items only for days that [DB.SumDay] was run for.
func (d *DB) SumDays(ctx context.Context, workspace, from, to int64, by string) ([]Sum, error) {
	subject, column := SubjectAll, "0"
	switch by {
	case ByDay:
		column = "day"
	case ByItem:
		subject, column = SubjectItem, "subject_id"
	case ByKey:
		subject, column = SubjectKey, "subject_id"
	}
	return sqldb.List(ctx, d.Queries, scanSum, fmt.Sprintf(`SELECT CAST(%[1]s AS bigint) AS by_what, result, CAST(sum(calls) AS bigint) FROM request_days
		WHERE workspace_id = $1 AND subject = $2 AND day >= $3 AND day < $4 GROUP BY by_what, result`, column), workspace, subject, from, to)
}

// SumItemHours is SumHours for one item. Each hour is looked up by itself: all items of
// the time are many.
func (d *DB) SumItemHours(ctx context.Context, workspace, item, from, to int64) ([]Sum, error) {
	return d.sumItem(ctx, "request_counts WHERE workspace_id = $1 AND item_id = $2 AND hour", from, to, workspace, item)
}

// SumItemDays is SumItemHours for days that were summed.
func (d *DB) SumItemDays(ctx context.Context, workspace, item, from, to int64) ([]Sum, error) {
	return d.sumItem(ctx, "request_days WHERE workspace_id = $1 AND subject_id = $2 AND subject = $3 AND day", from, to, workspace, item, SubjectItem)
}

func (d *DB) sumItem(ctx context.Context, where string, from, to int64, args ...any) ([]Sum, error) {
	marks := []string{"NULL"}
	for at := from; at < to; at++ {
		args = append(args, at)
		marks = append(marks, fmt.Sprintf("$%d", len(args)))
	}
	return sqldb.List(ctx, d.Queries, scanSum, fmt.Sprintf(`SELECT CAST(0 AS bigint) AS by_what, result, CAST(sum(calls) AS bigint) FROM %s IN (%s) GROUP BY result`,
		where, strings.Join(marks, ", ")), args...)
}
