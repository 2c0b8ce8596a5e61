package peopledb

import (
	"context"
	"crypto/sha256"

	"github.com/countersign/countersign/internal/sqldb"
)

// Digest is the SHA-256 of a token, which the database does not keep.
type Digest = [sha256.Size]byte

// Purpose describes what a link is for.
type Purpose string

// The purposes of links.
const (
	// PurposeSetup creates the first administrator.
	PurposeSetup Purpose = "setup"
	// PurposeSignIn signs a user in.
	PurposeSignIn Purpose = "sign_in"
)

// Link is a token that is good for one use.
type Link struct {
	Digest    Digest
	Purpose   Purpose
	User      int64 // 0 for none
	ExpiresAt sqldb.Time
	UsedAt    sqldb.Time // zero: not used
}

func scanLink(r sqldb.Row) (l Link, err error) {
	var digest []byte
	err = r.Scan(&digest, &l.Purpose, &l.User, &l.ExpiresAt, &l.UsedAt)
	copy(l.Digest[:], digest)
	return l, err
}

const linkColumns = `digest, purpose, coalesce(user_id, 0), expires_at, used_at`

// Link reads one by its digest.
func (d *DB) Link(ctx context.Context, p Purpose, digest Digest) (Link, error) {
	return sqldb.One(ctx, d.Queries, scanLink, `SELECT `+linkColumns+` FROM links WHERE digest = $1 AND purpose = $2`,
		digest[:], string(p))
}

// UseLink marks one as used, if it is neither used nor expired; else it is
// [sqldb.ErrNotFound]. Of two at once, one is served.
func (d *DB) UseLink(ctx context.Context, p Purpose, digest Digest, now sqldb.Time) (Link, error) {
	return sqldb.One(ctx, d.Queries, scanLink, `UPDATE links SET used_at = $1
		WHERE digest = $2 AND purpose = $3 AND used_at IS NULL AND expires_at > $4 RETURNING `+linkColumns,
		now, digest[:], string(p), now)
}

// AddLink writes a new one.
func (d *DB) AddLink(ctx context.Context, l Link) error {
	return d.Run(ctx, `INSERT INTO links (digest, purpose, user_id, expires_at) VALUES ($1, $2, $3, $4)`,
		l.Digest[:], string(l.Purpose), sqldb.NullID(l.User), l.ExpiresAt)
}

// DeleteLinks removes all links of a purpose.
func (d *DB) DeleteLinks(ctx context.Context, p Purpose) error {
	return d.Run(ctx, `DELETE FROM links WHERE purpose = $1`, string(p))
}

// DeleteLinksOf removes all links of a user.
func (d *DB) DeleteLinksOf(ctx context.Context, user int64) error {
	return d.Run(ctx, `DELETE FROM links WHERE user_id = $1`, user)
}

// DeleteExpiredLinks removes those of a purpose that expired before a time.
func (d *DB) DeleteExpiredLinks(ctx context.Context, p Purpose, before sqldb.Time) error {
	return d.Run(ctx, `DELETE FROM links WHERE purpose = $1 AND expires_at < $2`, string(p), before)
}
