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
