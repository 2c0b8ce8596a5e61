package peopledb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Session is what a browser's session holds.
type Session struct {
	ID     int64
	Digest Digest
	User   int64 // 0 while nobody is signed in
	// Generation is the user's when the session was begun.
	Generation                            int64
	Data                                  []byte
	Address, Agent                        string
	CreatedAt, SeenAt, ExpiresAt, EndedAt sqldb.Time // EndedAt is zero until it was ended
}

const selectSessions = `SELECT s.id, s.digest, coalesce(s.user_id, 0), s.generation, s.data, s.address, s.agent,
	s.created_at, s.seen_at, s.expires_at, s.ended_at FROM sessions s `

func scanSession(r sqldb.Row) (s Session, err error) {
	var digest []byte
	err = r.Scan(&s.ID, &digest, &s.User, &s.Generation, &s.Data, &s.Address, &s.Agent,
		&s.CreatedAt, &s.SeenAt, &s.ExpiresAt, &s.EndedAt)
	copy(s.Digest[:], digest)
	return s, err
}

// Session reads one by its token's digest, ended and expired ones too.
func (d *DB) Session(ctx context.Context, digest Digest) (Session, error) {
	return sqldb.One(ctx, d.Queries, scanSession, selectSessions+`WHERE s.digest = $1`, digest[:])
}

// SessionsOf lists those of a user in which the user is signed in, the last seen
// first.
func (d *DB) SessionsOf(ctx context.Context, user int64, now sqldb.Time) ([]Session, error) {
	return sqldb.List(ctx, d.Queries, scanSession, selectSessions+`JOIN users u ON u.id = s.user_id
		WHERE s.user_id = $1 AND s.generation = u.generation AND s.ended_at IS NULL AND s.expires_at > $2
		ORDER BY s.seen_at DESC, s.id DESC`, user, now)
}

// AddSession writes a new one.
func (d *DB) AddSession(ctx context.Context, s Session) error {
	return d.Run(ctx, `INSERT INTO sessions
		(digest, user_id, generation, data, address, agent, created_at, seen_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		s.Digest[:], sqldb.NullID(s.User), s.Generation, nonNil(s.Data), s.Address, s.Agent, s.CreatedAt, s.SeenAt, s.ExpiresAt)
}

// UpdateSession writes what a visit changes, found by the id, unless the session
// was ended.
func (d *DB) UpdateSession(ctx context.Context, s Session) error {
	return d.Run(ctx, `UPDATE sessions SET data = $1, address = $2, agent = $3, seen_at = $4, expires_at = $5
		WHERE id = $6 AND ended_at IS NULL`, nonNil(s.Data), s.Address, s.Agent, s.SeenAt, s.ExpiresAt, s.ID)
}

// SetSessionGeneration brings a session of a user to a generation.
func (d *DB) SetSessionGeneration(ctx context.Context, user, id, generation int64) error {
	return d.Run(ctx, `UPDATE sessions SET generation = $1 WHERE user_id = $2 AND id = $3`, generation, user, id)
}

// EndToken ends the session of a token's digest.
func (d *DB) EndToken(ctx context.Context, digest Digest, at sqldb.Time) error {
	return d.Run(ctx, `UPDATE sessions SET ended_at = $1, data = $2 WHERE digest = $3 AND ended_at IS NULL`,
		at, []byte{}, digest[:])
}

// EndSession ends a session of a user and reports whether there was one.
func (d *DB) EndSession(ctx context.Context, user, id int64, at sqldb.Time) (bool, error) {
	n, err := d.Exec(ctx, `UPDATE sessions SET ended_at = $1, data = $2
		WHERE user_id = $3 AND id = $4 AND ended_at IS NULL AND expires_at > $5`, at, []byte{}, user, id, at)
	return n == 1, err
}

// EndSessions ends all sessions of a user but one (0 for none), and tells how
// many.
func (d *DB) EndSessions(ctx context.Context, user, keep int64, at sqldb.Time) (int64, error) {
	return d.Exec(ctx, `UPDATE sessions SET ended_at = $1, data = $2
		WHERE user_id = $3 AND id <> $4 AND ended_at IS NULL AND expires_at > $5`, at, []byte{}, user, keep, at)
}

// DeleteExpiredSessions removes those that nobody can use any more.
func (d *DB) DeleteExpiredSessions(ctx context.Context, now sqldb.Time) error {
	return d.Run(ctx, `DELETE FROM sessions WHERE expires_at <= $1`, now)
}
