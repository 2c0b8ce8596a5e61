package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// QueuedVerification is a verification that the store has not answered yet.
type QueuedVerification struct {
	ID int64
	// UserID and TokenDigest are unique together.
	UserID      string
	TokenDigest []byte
	Sealed      []byte // the token
	Product     string // that the app expects, "" for any
	Restoring   bool
	Simulated   bool // it was made in test mode
	// Application is the Android application ID of the settings at the time, "" for one of an earlier version.
	Application string
	Unknown     bool // the store did not know the token
	QueuedAt    sqldb.Time
}

const (
	queuedColumns = `user_id, token_digest, sealed, product, restoring, simulated, application, unknown, queued_at`
	selectQueued  = `SELECT id, ` + queuedColumns + ` FROM queued_verifications `
)

func scanQueued(r sqldb.Row) (q QueuedVerification, err error) {
	err = r.Scan(&q.ID, &q.UserID, &q.TokenDigest, &q.Sealed, &q.Product, &q.Restoring, &q.Simulated, &q.Application, &q.Unknown, &q.QueuedAt)
	return q, err
}

// PutQueuedVerification writes one, or what is new of one that is there, and returns its id. An unknown one stays so.
func (d *DB) PutQueuedVerification(ctx context.Context, q QueuedVerification) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO queued_verifications (`+queuedColumns+`)
		VALUES `+sqldb.Placeholders(1, 9, 1)+` ON CONFLICT (user_id, token_digest) DO UPDATE SET product = excluded.product, restoring = excluded.restoring,
		unknown = queued_verifications.unknown OR excluded.unknown RETURNING id`, q.UserID, q.TokenDigest, q.Sealed, q.Product, q.Restoring, q.Simulated, q.Application, q.Unknown, q.QueuedAt)
}

// QueuedVerification reads the one with an id.
func (d *DB) QueuedVerification(ctx context.Context, id int64) (QueuedVerification, error) {
	return sqldb.One(ctx, d.Queries, scanQueued, selectQueued+`WHERE id = $1`, id)
}

// OldestQueuedVerification reads the one that was queued first of those that are not unknown.
func (d *DB) OldestQueuedVerification(ctx context.Context) (QueuedVerification, error) {
	return sqldb.One(ctx, d.Queries, scanQueued, selectQueued+`WHERE NOT unknown ORDER BY id LIMIT 1`)
}

// SetQueuedUnknown notes that the store did not know the token of the one with an id.
func (d *DB) SetQueuedUnknown(ctx context.Context, id int64) error {
	return d.Run(ctx, `UPDATE queued_verifications SET unknown = TRUE WHERE id = $1`, id)
}

// QueuedVerificationsOf lists those of a user.
func (d *DB) QueuedVerificationsOf(ctx context.Context, user string) ([]QueuedVerification, error) {
	return sqldb.List(ctx, d.Queries, scanQueued, selectQueued+`WHERE user_id = $1 ORDER BY id`, user)
}

// QueuedVerifications lists all after an id, in the order of ids.
func (d *DB) QueuedVerifications(ctx context.Context, after int64, limit int) ([]QueuedVerification, error) {
	return sqldb.List(ctx, d.Queries, scanQueued, selectQueued+`WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
}

// EndQueuedVerification deletes that of a user and a token, and reports whether there was one.
func (d *DB) EndQueuedVerification(ctx context.Context, user string, digest []byte) (bool, error) {
	changed, err := d.Exec(ctx, `DELETE FROM queued_verifications WHERE user_id = $1 AND token_digest = $2`, user, digest)
	return changed > 0, err
}

// DeleteQueuedVerifications deletes those of a user.
func (d *DB) DeleteQueuedVerifications(ctx context.Context, user string) error {
	return d.Run(ctx, `DELETE FROM queued_verifications WHERE user_id = $1`, user)
}

// MoveQueuedVerifications makes those of a user another one's.
func (d *DB) MoveQueuedVerifications(ctx context.Context, from, to string) error {
	err := d.Run(ctx, `UPDATE queued_verifications SET user_id = $2 WHERE user_id = $1
		AND token_digest NOT IN (SELECT token_digest FROM queued_verifications WHERE user_id = $2)`, from, to)
	if err != nil {
		return err
	}
	return d.DeleteQueuedVerifications(ctx, from)
}

// SetQueuedKey replaces what depends on the key file.
func (d *DB) SetQueuedKey(ctx context.Context, id int64, digest, sealed []byte) error {
	return d.Run(ctx, `UPDATE queued_verifications SET token_digest = $1, sealed = $2 WHERE id = $3`, digest, sealed, id)
}
