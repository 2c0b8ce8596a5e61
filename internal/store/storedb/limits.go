package storedb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/sqldb"
)

// LimitCount is a number of events that a limit counts, until Ends.
type LimitCount struct {
	Name string
	N    int
	Ends time.Time
}

// limitRows is how many counts are written at once.
const limitRows = 500

// AddLimits adds to counts. One that is over by now begins anew, with an end of its
// own. Nothing in memory depends on them, so they are not marked.
func (d *DB) AddLimits(ctx context.Context, now time.Time, counts []LimitCount) error {
	// In the same order by every server: two that lock the same rows in different
	// orders would wait for each other.
	counts = slices.SortedFunc(slices.Values(counts), func(a, b LimitCount) int { return cmp.Compare(a.Name, b.Name) })
	for part := range slices.Chunk(counts, limitRows) {
		var query strings.Builder
		query.WriteString(`INSERT INTO limits (name, n, ends_at) VALUES `)
		args := []any{now.UnixMilli()}
		for i, c := range part {
			if i > 0 {
				query.WriteByte(',')
			}
			fmt.Fprintf(&query, "($%d,$%d,$%d)", len(args)+1, len(args)+2, len(args)+3)
			args = append(args, c.Name, c.N, c.Ends.UnixMilli())
		}
		query.WriteString(` ON CONFLICT (name) DO UPDATE SET
			n = CASE WHEN limits.ends_at <= $1 THEN excluded.n ELSE limits.n + excluded.n END,
			ends_at = CASE WHEN limits.ends_at <= $1 THEN excluded.ends_at ELSE limits.ends_at END`)
		if _, err := d.Exec(ctx, query.String(), args...); err != nil {
			return err
		}
	}
	return nil
}

// SetLimit writes a count as it is.
func (d *DB) SetLimit(ctx context.Context, c LimitCount) error {
	_, err := d.Exec(ctx, `INSERT INTO limits (name, n, ends_at) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET n = excluded.n, ends_at = excluded.ends_at`, c.Name, c.N, c.Ends.UnixMilli())
	return err
}

// RemoveLimit deletes a count.
func (d *DB) RemoveLimit(ctx context.Context, name string) error {
	_, err := d.Exec(ctx, `DELETE FROM limits WHERE name = $1`, name)
	return err
}

// Limits lists the counts that are not over, most of them at most.
func (d *DB) Limits(ctx context.Context, now time.Time, most int) ([]LimitCount, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (LimitCount, error) {
		var c LimitCount
		var ends int64
		err := r.Scan(&c.Name, &c.N, &ends)
		c.Ends = time.UnixMilli(ends)
		return c, err
	}, `SELECT name, n, ends_at FROM limits WHERE ends_at > $1 LIMIT $2`, now.UnixMilli(), most)
}

// PruneLimits deletes the counts that are over, and of the others all but the most
// highest ones.
func (d *DB) PruneLimits(ctx context.Context, now time.Time, most int) error {
	if _, err := d.Exec(ctx, `DELETE FROM limits WHERE ends_at <= $1`, now.UnixMilli()); err != nil {
		return err
	}
	_, err := d.Exec(ctx, `DELETE FROM limits WHERE name IN
		(SELECT name FROM limits ORDER BY n DESC, name LIMIT 1000000 OFFSET $1)`, most)
	return err
}
