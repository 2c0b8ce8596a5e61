package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// UseNonce writes the digest of a nonce, and reports whether it was new.
func (d *DB) UseNonce(ctx context.Context, digest string, expires sqldb.Time) (isNew bool, err error) {
	added, err := d.Exec(ctx, `INSERT INTO nonces (digest, expires_at) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING`, digest, expires)
	return added > 0, err
}

// PruneNonces deletes those that expired before a time.
func (d *DB) PruneNonces(ctx context.Context, before sqldb.Time) error {
	return d.Run(ctx, `DELETE FROM nonces WHERE expires_at < $1`, before)
}
