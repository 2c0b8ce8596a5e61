package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Webhook is an address that receives events.
type Webhook struct {
	ID           int64
	URL          string
	Types        sqldb.JSON[[]string] // empty for all
	SecretSealed []byte               // empty when it is lost
	OldSealed    []byte               // empty for none
	OldUntil     sqldb.Time
	PausedFor    string // empty for one that is not paused
	PausedAt     sqldb.Time
	FailingSince sqldb.Time // zero after a success
	CreatedAt    sqldb.Time
	RotatedAt    sqldb.Time // zero: never
}

const selectWebhooks = `SELECT id, url, types, secret_sealed, old_sealed, old_until, paused_for, paused_at, failing_since, created_at, rotated_at FROM webhooks `

func scanWebhook(r sqldb.Row) (w Webhook, err error) {
	err = r.Scan(&w.ID, &w.URL, &w.Types, &w.SecretSealed, &w.OldSealed, &w.OldUntil, &w.PausedFor, &w.PausedAt, &w.FailingSince, &w.CreatedAt, &w.RotatedAt)
	return w, err
}

// Webhooks lists all by id.
func (d *DB) Webhooks(ctx context.Context) ([]Webhook, error) {
	return sqldb.List(ctx, d.Queries, scanWebhook, selectWebhooks+`ORDER BY id`)
}

// Webhook reads one.
func (d *DB) Webhook(ctx context.Context, id int64) (Webhook, error) {
	return sqldb.One(ctx, d.Queries, scanWebhook, selectWebhooks+`WHERE id = $1`, id)
}

// LockWebhook reads one and makes others who would change it wait until the transaction
// ends.
func (d *DB) LockWebhook(ctx context.Context, id int64) (Webhook, error) {
	return sqldb.Locked(ctx, d.Queries, "webhooks", "id", id, d.Webhook)
}

// AddWebhook writes a new one without a secret.
func (d *DB) AddWebhook(ctx context.Context, w Webhook) (id int64, err error) {
	none := []byte{}
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO webhooks (url, types, secret_sealed, old_sealed, paused_for, created_at)
		VALUES ($1, $2, $3, $4, '', $5) RETURNING id`, w.URL, w.Types, none, none, w.CreatedAt)
}

// UpdateWebhook writes all of one that can change, found by its id.
func (d *DB) UpdateWebhook(ctx context.Context, w Webhook) error {
	return d.Run(ctx, `UPDATE webhooks SET url = $1, types = $2, secret_sealed = $3, old_sealed = $4, old_until = $5, paused_for = $6,
		paused_at = $7, failing_since = $8, rotated_at = $9 WHERE id = $10`,
		w.URL, w.Types, append([]byte{}, w.SecretSealed...), append([]byte{}, w.OldSealed...), w.OldUntil, w.PausedFor, w.PausedAt, w.FailingSince, w.RotatedAt, w.ID)
}

// DeleteWebhook deletes one with its deliveries.
func (d *DB) DeleteWebhook(ctx context.Context, id int64) error {
	for _, statement := range []string{
		`DELETE FROM delivery_attempts WHERE delivery IN (SELECT id FROM deliveries WHERE webhook = $1)`,
		`DELETE FROM deliveries WHERE webhook = $1`, `DELETE FROM webhooks WHERE id = $1`,
	} {
		if err := d.Run(ctx, statement, id); err != nil {
			return err
		}
	}
	return nil
}
