package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Message is a notification of the store.
type Message struct {
	ID        int64
	MessageID string
	Kind      string
	Code      int64
	// TokenDigest is of the purchase that it is about, nil for none.
	TokenDigest []byte
	Sealed      []byte // its body
	ReceivedAt  sqldb.Time
	ProcessedAt sqldb.Time // zero: not yet
	Result      string
}

const selectInbox = `SELECT id, message_id, kind, code, token_digest, sealed, received_at, processed_at, result FROM inbox `

func scanMessage(r sqldb.Row) (m Message, err error) {
	err = r.Scan(&m.ID, &m.MessageID, &m.Kind, &m.Code, &m.TokenDigest, &m.Sealed, &m.ReceivedAt, &m.ProcessedAt, &m.Result)
	return m, err
}

// AddMessage writes one. It reports false for a message that arrived before.
func (d *DB) AddMessage(ctx context.Context, m Message) (added bool, err error) {
	changed, err := d.Exec(ctx, `INSERT INTO inbox (message_id, kind, code, token_digest, sealed, received_at, processed_at, result)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (message_id) DO NOTHING`,
		m.MessageID, m.Kind, m.Code, sqldb.NullBytes(m.TokenDigest), m.Sealed, m.ReceivedAt, m.ProcessedAt, m.Result)
	return changed > 0, err
}

// Messages lists the newest before an id; 0 for from the newest on.
func (d *DB) Messages(ctx context.Context, before int64, limit int) ([]Message, error) {
	return sqldb.List(ctx, d.Queries, scanMessage, selectInbox+`WHERE id < $1 OR $1 = 0 ORDER BY id DESC LIMIT $2`, before, limit)
}

// MessagesOfKind lists the newest of a kind.
func (d *DB) MessagesOfKind(ctx context.Context, kind string, limit int) ([]Message, error) {
	return sqldb.List(ctx, d.Queries, scanMessage, selectInbox+`WHERE kind = $1 ORDER BY id DESC LIMIT $2`, kind, limit)
}

// OpenMessages lists those about a token that arrived before a time and are not processed yet.
func (d *DB) OpenMessages(ctx context.Context, before sqldb.Time, limit int) ([]Message, error) {
	return sqldb.List(ctx, d.Queries, scanMessage, selectInbox+`WHERE processed_at IS NULL AND token_digest IS NOT NULL AND received_at < $1 ORDER BY id LIMIT $2`, before, limit)
}

// HasMessages reports whether there is one about a token.
func (d *DB) HasMessages(ctx context.Context, digest []byte) (bool, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[bool], `SELECT EXISTS (SELECT 1 FROM inbox WHERE token_digest = $1)`, digest)
}

// LastMessage returns the highest id, 0 for none.
func (d *DB) LastMessage(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT coalesce(max(id), 0) FROM inbox`)
}

// LastMessageAt returns when the last message arrived whose id does not match a pattern of LIKE, zero for never.
func (d *DB) LastMessageAt(ctx context.Context, except string) (sqldb.Time, error) {
	return sqldb.One(ctx, d.Queries, func(r sqldb.Row) (t sqldb.Time, err error) {
		err = r.Scan(&t)
		return t, err
	}, `SELECT max(received_at) FROM inbox WHERE message_id NOT LIKE $1`, except)
}

// EndMessages notes what became of the messages about a token up to an id.
func (d *DB) EndMessages(ctx context.Context, digest []byte, last int64, at sqldb.Time, result string) error {
	return d.Run(ctx, `UPDATE inbox SET processed_at = $1, result = $2 WHERE token_digest = $3 AND id <= $4 AND processed_at IS NULL`, at, result, digest, last)
}

// SetMessageResult replaces what became of a message.
func (d *DB) SetMessageResult(ctx context.Context, id int64, result string) error {
	return d.Run(ctx, `UPDATE inbox SET result = $1 WHERE id = $2`, result, id)
}

// SetMessageKey replaces what depends on the key file.
func (d *DB) SetMessageKey(ctx context.Context, id int64, digest, sealed []byte) error {
	return d.Run(ctx, `UPDATE inbox SET token_digest = $1, sealed = $2 WHERE id = $3`, sqldb.NullBytes(digest), sealed, id)
}

// PruneInbox removes processed messages that arrived before a time.
func (d *DB) PruneInbox(ctx context.Context, before sqldb.Time) error {
	return d.Run(ctx, `DELETE FROM inbox WHERE processed_at IS NOT NULL AND received_at < $1`, before)
}

// DeleteMessagesAbout deletes the notifications about a token.
func (d *DB) DeleteMessagesAbout(ctx context.Context, digest []byte) error {
	return d.Run(ctx, `DELETE FROM inbox WHERE token_digest = $1`, digest)
}
