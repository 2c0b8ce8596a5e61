package requestdb

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/sqldb"
)

// Gap is a time in which calls were not logged.
type Gap struct {
	From  sqldb.Time
	Until sqldb.Time
	Calls int64
}

// AddGap notes calls that were not logged. Gaps that are less than a while apart become one.
func (d *DB) AddGap(ctx context.Context, g Gap, apart time.Duration) error {
	changed, err := d.Exec(ctx, `UPDATE request_gaps SET until_at = $1, calls = calls + $2
		WHERE from_at = (SELECT max(from_at) FROM request_gaps) AND until_at >= $3 AND from_at <= $4`,
		g.Until, g.Calls, sqldb.Time{Time: g.From.Add(-apart)}, g.From)
	if err == nil && changed == 0 {
		_, err = d.Exec(ctx, `INSERT INTO request_gaps (from_at, until_at, calls) VALUES ($1, $2, $3)`, g.From, g.Until, g.Calls)
	}
	return err
}

// Gaps lists the newest gaps, at most limit, the newest first.
func (d *DB) Gaps(ctx context.Context, limit int) ([]Gap, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (g Gap, err error) {
		err = r.Scan(&g.From, &g.Until, &g.Calls)
		return g, err
	}, `SELECT from_at, until_at, calls FROM request_gaps ORDER BY from_at DESC LIMIT $1`, int64(limit))
}

// DeleteGaps deletes gaps that ended before a time.
func (d *DB) DeleteGaps(ctx context.Context, before time.Time) error {
	_, err := d.Exec(ctx, `DELETE FROM request_gaps WHERE until_at < $1`, sqldb.Time{Time: before})
	return err
}
