package storedb

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// LicenseKey is a pair of keys for licenses: one signs, the other checks.
type LicenseKey struct {
	// ID is the kid of what it signs.
	ID     string
	Public []byte
	// Sealed is the private key; nil where only the public one is known.
	Sealed    []byte
	CreatedAt countersign.Timestamp
	// RetiredAt is zero while it may sign.
	RetiredAt countersign.Timestamp
}

// Current reports whether the key signs: of a store's keys at most one does.
func (k LicenseKey) Current() bool { return k.Sealed != nil && k.RetiredAt.IsZero() }

func scanLicenseKey(r sqldb.Row) (k LicenseKey, err error) {
	err = r.Scan(&k.ID, &k.Public, &k.Sealed, column(&k.CreatedAt), column(&k.RetiredAt))
	return k, err
}

// LicenseKeys lists all keys for licenses, the oldest first.
func (d *DB) LicenseKeys(ctx context.Context) ([]LicenseKey, error) {
	return sqldb.List(ctx, d.Queries, scanLicenseKey,
		`SELECT id, public, sealed, created_at, retired_at FROM license_keys ORDER BY created_at, id`)
}

// AddLicenseKey writes a new one; [sqldb.ErrExists] when it is there, or when it
// would sign beside another one.
func (d *DB) AddLicenseKey(ctx context.Context, k LicenseKey) error {
	return d.Change(ctx, TopicLicenseKeys, `INSERT INTO license_keys (id, public, sealed, created_at, retired_at) VALUES ($1, $2, $3, $4, $5)`,
		k.ID, k.Public, sqldb.NullBytes(k.Sealed), column(&k.CreatedAt), column(&k.RetiredAt))
}

// UpdateLicenseKey writes the sealed private key and the end of a key, found by
// its id.
func (d *DB) UpdateLicenseKey(ctx context.Context, k LicenseKey) error {
	return d.Change(ctx, TopicLicenseKeys, `UPDATE license_keys SET sealed = $1, retired_at = $2 WHERE id = $3`,
		sqldb.NullBytes(k.Sealed), column(&k.RetiredAt), k.ID)
}

// DropLicenseKeys takes all keys out of the store: what they have signed is not
// good any more.
func (d *DB) DropLicenseKeys(ctx context.Context) error {
	return d.Change(ctx, TopicLicenseKeys, `DELETE FROM license_keys`)
}
