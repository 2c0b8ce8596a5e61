package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Delivery is what became of an event at a webhook.
type Delivery struct {
	ID        int64
	Event     int64 // its place in the feed
	EventID   string
	Type      string
	Webhook   int64
	State     string // pending, held, delivered, failed
	Attempts  int64
	NextAt    sqldb.Time // zero for none
	CreatedAt sqldb.Time
	EndedAt   sqldb.Time // zero for one that is pending or held
	// LastStatus and LastExcerpt are those of the last attempt.
	LastStatus  int64
	LastExcerpt string
}

const selectDeliveries = `SELECT d.id, d.event, coalesce(e.event_id, ''), coalesce(e.type, ''), d.webhook, d.state, d.attempts, d.next_at, d.created_at, d.ended_at,
	coalesce(a.status, 0), coalesce(a.excerpt, '') FROM deliveries d LEFT JOIN events e ON e.seq = d.event
	LEFT JOIN delivery_attempts a ON a.id = (SELECT max(id) FROM delivery_attempts WHERE delivery = d.id) `

func scanDelivery(r sqldb.Row) (v Delivery, err error) {
	err = r.Scan(&v.ID, &v.Event, &v.EventID, &v.Type, &v.Webhook, &v.State, &v.Attempts, &v.NextAt, &v.CreatedAt, &v.EndedAt, &v.LastStatus, &v.LastExcerpt)
	return v, err
}

// PutDelivery has an event delivered to a webhook (pending), or not yet (held). An earlier
// delivery of it begins anew.
func (d *DB) PutDelivery(ctx context.Context, v Delivery) error {
	return d.Run(ctx, `INSERT INTO deliveries (event, webhook, state, attempts, next_at, created_at) VALUES ($1, $2, $3, 0, $4, $5)
		ON CONFLICT (event, webhook) DO UPDATE SET state = excluded.state, next_at = excluded.next_at, ended_at = NULL`,
		v.Event, v.Webhook, v.State, v.NextAt, v.CreatedAt)
}

// Delivery reads one.
func (d *DB) Delivery(ctx context.Context, id int64) (Delivery, error) {
	return sqldb.One(ctx, d.Queries, scanDelivery, selectDeliveries+`WHERE d.id = $1`, id)
}

// DeliveryOf reads what became of an event at a webhook.
func (d *DB) DeliveryOf(ctx context.Context, event, webhook int64) (Delivery, error) {
	return sqldb.One(ctx, d.Queries, scanDelivery, selectDeliveries+`WHERE d.event = $1 AND d.webhook = $2`, event, webhook)
}

// DeliveryFilter selects deliveries of a webhook.
type DeliveryFilter struct {
	Webhook int64
	State   string // "" for all
	Before  int64  // the id of the last delivery of the page before, 0 for the newest
	Limit   int
}

// Deliveries lists them, newest first.
func (d *DB) Deliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error) {
	return sqldb.List(ctx, d.Queries, scanDelivery, selectDeliveries+`WHERE d.webhook = $1 AND (CAST($2 AS text) = '' OR d.state = $2) AND (CAST($3 AS bigint) = 0 OR d.id < $3)
		ORDER BY d.id DESC LIMIT $4`, f.Webhook, f.State, f.Before, f.Limit)
}

// ReleaseDeliveries makes the deliveries due that were held for a webhook or are pending, and
// returns their events.
func (d *DB) ReleaseDeliveries(ctx context.Context, webhook int64, at sqldb.Time) ([]int64, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[int64], `UPDATE deliveries SET state = 'pending', next_at = $2 WHERE webhook = $1 AND state IN ('held', 'pending') RETURNING event`,
		webhook, at)
}

// SetDelivery writes the state of a delivery.
func (d *DB) SetDelivery(ctx context.Context, id int64, state string, next, ended sqldb.Time) error {
	return d.Run(ctx, `UPDATE deliveries SET state = $1, next_at = $2, ended_at = $3 WHERE id = $4`, state, next, ended, id)
}

// FailDelivery ends the delivery of an event to a webhook if it is pending.
func (d *DB) FailDelivery(ctx context.Context, event, webhook int64, at sqldb.Time) error {
	return d.Run(ctx, `UPDATE deliveries SET state = 'failed', next_at = NULL, ended_at = $3 WHERE event = $1 AND webhook = $2 AND state = 'pending'`, event, webhook, at)
}

// Attempt is one attempt to deliver an event.
type Attempt struct {
	At      sqldb.Time
	Status  int64 // of the response, 0 for none
	TookMS  int64
	Excerpt string
}

// AddAttempt writes an attempt.
func (d *DB) AddAttempt(ctx context.Context, delivery int64, a Attempt) error {
	if err := d.Run(ctx, `UPDATE deliveries SET attempts = attempts + 1 WHERE id = $1`, delivery); err != nil {
		return err
	}
	return d.Run(ctx, `INSERT INTO delivery_attempts (delivery, at, status, took_ms, excerpt) VALUES ($1, $2, $3, $4, $5)`,
		delivery, a.At, a.Status, a.TookMS, a.Excerpt)
}

// Attempts lists those of a delivery, oldest first.
func (d *DB) Attempts(ctx context.Context, delivery int64) ([]Attempt, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (a Attempt, err error) {
		err = r.Scan(&a.At, &a.Status, &a.TookMS, &a.Excerpt)
		return a, err
	}, `SELECT at, status, took_ms, excerpt FROM delivery_attempts WHERE delivery = $1 ORDER BY id`, delivery)
}
