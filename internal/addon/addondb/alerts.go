package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Alert is something that people have to know. Kind and Subject are unique together.
type Alert struct {
	Kind, Subject   string
	Message         string
	Count           int64
	FirstAt, LastAt sqldb.Time
	ResolvedAt      sqldb.Time // zero: it is open
}

const selectAlerts = `SELECT kind, subject, message, count, first_at, last_at, resolved_at FROM alerts `

func scanAlert(r sqldb.Row) (a Alert, err error) {
	err = r.Scan(&a.Kind, &a.Subject, &a.Message, &a.Count, &a.FirstAt, &a.LastAt, &a.ResolvedAt)
	return a, err
}

// Raise writes an alert, or counts one that is open.
func (d *DB) Raise(ctx context.Context, a Alert) error {
	return d.Run(ctx, `INSERT INTO alerts (kind, subject, message, count, first_at, last_at) VALUES ($1, $2, $3, 1, $4, $4)
		ON CONFLICT (kind, subject) DO UPDATE SET message = excluded.message, last_at = excluded.last_at, resolved_at = NULL,
			count = CASE WHEN alerts.resolved_at IS NULL THEN alerts.count + 1 ELSE 1 END,
			first_at = CASE WHEN alerts.resolved_at IS NULL THEN alerts.first_at ELSE excluded.first_at END`,
		a.Kind, a.Subject, a.Message, a.LastAt)
}

// Alert reads an alert, also one that has ended.
func (d *DB) Alert(ctx context.Context, kind, subject string) (Alert, error) {
	return sqldb.One(ctx, d.Queries, scanAlert, selectAlerts+`WHERE kind = $1 AND subject = $2`, kind, subject)
}

// DeleteAlert deletes an alert, as if it had never been raised.
func (d *DB) DeleteAlert(ctx context.Context, kind, subject string) error {
	return d.Run(ctx, `DELETE FROM alerts WHERE kind = $1 AND subject = $2`, kind, subject)
}

// Resolve ends an alert. It reports whether one was open.
func (d *DB) Resolve(ctx context.Context, kind, subject string, at sqldb.Time) (was bool, err error) {
	changed, err := d.Exec(ctx, `UPDATE alerts SET resolved_at = $1 WHERE kind = $2 AND subject = $3 AND resolved_at IS NULL`, at, kind, subject)
	return changed > 0, err
}

// OpenAlerts lists those that are open, the oldest first.
func (d *DB) OpenAlerts(ctx context.Context) ([]Alert, error) {
	return sqldb.List(ctx, d.Queries, scanAlert, selectAlerts+`WHERE resolved_at IS NULL ORDER BY first_at, kind, subject`)
}
