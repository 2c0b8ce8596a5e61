package storedb

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/sqldb"
)

// limitRows is how many counts are written at once.
const limitRows = 500

// AddLimits adds to counts. An expired count starts again with a new expiry. No cache
// depends on counts, so they are not marked.
func (d *DB) AddLimits(ctx context.Context, now time.Time, counts []limit.Count) error {
	// In the same order by every server: two that lock the same rows in different
	// orders would wait for each other.
	counts = slices.SortedFunc(slices.Values(counts), func(a, b limit.Count) int { return cmp.Compare(a.Name, b.Name) })
	for part := range slices.Chunk(counts, limitRows) {
		args := []any{now.UnixMilli()}
		for _, c := range part {
			args = append(args, c.Name, c.N, c.Ends.UnixMilli())
		}
		err := d.Run(ctx, `INSERT INTO limits (name, n, ends_at) VALUES `+sqldb.Placeholders(len(part), 3, 2)+` ON CONFLICT (name) DO UPDATE SET
			n = CASE WHEN limits.ends_at <= $1 THEN excluded.n ELSE limits.n + excluded.n END,
			ends_at = CASE WHEN limits.ends_at <= $1 THEN excluded.ends_at ELSE limits.ends_at END`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// SetLimit writes a count as it is.
func (d *DB) SetLimit(ctx context.Context, c limit.Count) error {
	return d.Run(ctx, `INSERT INTO limits (name, n, ends_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET n = excluded.n, ends_at = excluded.ends_at`, c.Name, c.N, c.Ends.UnixMilli())
}

// RemoveLimit deletes a count.
func (d *DB) RemoveLimit(ctx context.Context, name string) error {
	return d.Run(ctx, `DELETE FROM limits WHERE name = $1`, name)
}

// Limits lists the counts that are not over, most of them at most.
func (d *DB) Limits(ctx context.Context, now time.Time, most int) ([]limit.Count, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (c limit.Count, err error) {
		var ends int64
		err = r.Scan(&c.Name, &c.N, &ends)
		c.Ends = time.UnixMilli(ends)
		return c, err
	}, `SELECT name, n, ends_at FROM limits WHERE ends_at > $1 LIMIT $2`, now.UnixMilli(), most)
}

// PruneLimits deletes the counts that are over, and of the others all but the most
// highest ones.
func (d *DB) PruneLimits(ctx context.Context, now time.Time, most int) error {
	if err := d.Run(ctx, `DELETE FROM limits WHERE ends_at <= $1`, now.UnixMilli()); err != nil {
		return err
	}
	return d.Run(ctx, `DELETE FROM limits WHERE name IN
		(SELECT name FROM limits ORDER BY n DESC, name LIMIT 1000000 OFFSET $1)`, most)
}
