package requestdb

import (
	"context"
	"slices"

	"github.com/countersign/countersign/internal/sqldb"
)

// Count is how many calls of an hour have the same workspace, item, key and result.
type Count struct {
	WorkspaceID int64
	Hour        int64 // since 1970, in UTC
	ItemID      int64
	KeyID       int64
	Result      string // the reason, empty for valid
	Calls       int64
}

// AddCounts adds to the counts. Each of them must occur once, and in the same order by
// every server.
func (d *DB) AddCounts(ctx context.Context, counts []Count) error {
	rows := d.rowsAtOnce()
	many, one := countsQuery(rows), countsQuery(1)
	for some := range slices.Chunk(counts, rows) {
		if len(some) == rows {
			if err := d.addCounts(ctx, many, some...); err != nil {
				return err
			}
			continue
		}
		for _, c := range some {
			if err := d.addCounts(ctx, one, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func countsQuery(rows int) string {
	return `INSERT INTO request_counts (workspace_id, hour, item_id, key_id, result, calls) VALUES ` + sqldb.Placeholders(rows, 6, 1) + `
		ON CONFLICT (workspace_id, hour, item_id, key_id, result) DO UPDATE SET calls = request_counts.calls + excluded.calls`
}

func (d *DB) addCounts(ctx context.Context, query string, counts ...Count) error {
	args := make([]any, 0, 6*len(counts))
	for _, c := range counts {
		args = append(args, c.WorkspaceID, c.Hour, c.ItemID, c.KeyID, c.Result, c.Calls)
	}
	_, err := d.Exec(ctx, query, args...)
	return err
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

// FirstCountedHour returns the first hour, from one on, in which a workspace has counts, or 0.
func (d *DB) FirstCountedHour(ctx context.Context, workspace, from int64) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64],
		`SELECT coalesce(min(hour), 0) FROM request_counts WHERE workspace_id = $1 AND hour >= $2`, workspace, from)
}

// DeleteCounts deletes the counts of a workspace before an hour.
func (d *DB) DeleteCounts(ctx context.Context, workspace, hour int64) error {
	_, err := d.Exec(ctx, `DELETE FROM request_counts WHERE workspace_id = $1 AND hour < $2`, workspace, hour)
	return err
}
