package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// KindCount is how many alerts of a kind are open.
type KindCount struct {
	Kind  string
	Count int64
}

// CountOpenAlerts counts the open alerts of each kind that has one.
func (d *DB) CountOpenAlerts(ctx context.Context) ([]KindCount, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (c KindCount, err error) {
		err = r.Scan(&c.Kind, &c.Count)
		return c, err
	}, `SELECT kind, count(*) FROM alerts WHERE resolved_at IS NULL GROUP BY kind ORDER BY kind`)
}

// Unacknowledged is how many purchases wait for their acknowledgement, and since when the
// first of them does; zero for none.
type Unacknowledged struct {
	Count int64
	Since sqldb.Time
}

// CountUnacknowledged counts the purchases with an acknowledgement that is due.
func (d *DB) CountUnacknowledged(ctx context.Context) (Unacknowledged, error) {
	return sqldb.One(ctx, d.Queries, func(r sqldb.Row) (u Unacknowledged, err error) {
		err = r.Scan(&u.Count, &u.Since)
		return u, err
	}, `SELECT count(*), min(acknowledge_since) FROM purchases WHERE acknowledge_since IS NOT NULL`)
}
