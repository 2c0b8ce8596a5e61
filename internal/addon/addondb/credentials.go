package addondb

import (
	"context"
	"crypto/sha256"

	"github.com/countersign/countersign/internal/sqldb"
)

// Credential is a pair of API key and API secret. Both are kept sealed; the key
// is found by its digest.
type Credential struct {
	ID           int64
	Label        string
	KeyDigest    [sha256.Size]byte
	KeyHint      string
	KeySealed    []byte
	KeyActive    bool
	SecretHint   string
	SecretSealed []byte
	SecretActive bool
	CreatedAt    sqldb.Time
	RotatedAt    sqldb.Time // zero: never
	LastUsedAt   sqldb.Time // zero: never
	LastUsedFrom string
	UsedCount    int64
}

const selectCredentials = `SELECT id, label, key_digest, key_hint, key_sealed, key_active, secret_hint, secret_sealed, secret_active,
	created_at, rotated_at, last_used_at, last_used_from, used_count FROM credentials `

func scanCredential(r sqldb.Row) (c Credential, err error) {
	var digest []byte
	err = r.Scan(&c.ID, &c.Label, &digest, &c.KeyHint, &c.KeySealed, &c.KeyActive, &c.SecretHint, &c.SecretSealed, &c.SecretActive,
		&c.CreatedAt, &c.RotatedAt, &c.LastUsedAt, &c.LastUsedFrom, &c.UsedCount)
	copy(c.KeyDigest[:], digest)
	return c, err
}

// Credentials lists all by id.
func (d *DB) Credentials(ctx context.Context) ([]Credential, error) {
	return sqldb.List(ctx, d.Queries, scanCredential, selectCredentials+`ORDER BY id`)
}

// LockCredential reads one and makes others who would change it wait until the
// transaction ends.
func (d *DB) LockCredential(ctx context.Context, id int64) (Credential, error) {
	if err := d.Lock(ctx, "credentials", "id", id); err != nil {
		return Credential{}, err
	}
	return sqldb.One(ctx, d.Queries, scanCredential, selectCredentials+`WHERE id = $1`, id)
}

// CredentialWithKey finds the pair that has a key.
func (d *DB) CredentialWithKey(ctx context.Context, digest [sha256.Size]byte) (Credential, error) {
	return sqldb.One(ctx, d.Queries, scanCredential, selectCredentials+`WHERE key_digest = $1`, digest[:])
}

// AddCredential writes a new pair; [sqldb.ErrExists] when its label is taken.
func (d *DB) AddCredential(ctx context.Context, c Credential) (id int64, err error) {
	if err := d.Mark(ctx, TopicCredentials, ""); err != nil {
		return 0, err
	}
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO credentials (label, key_digest, key_hint, key_sealed, key_active,
		secret_hint, secret_sealed, secret_active, created_at, last_used_from, used_count)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '', 0) RETURNING id`,
		c.Label, c.KeyDigest[:], c.KeyHint, c.KeySealed, c.KeyActive, c.SecretHint, c.SecretSealed, c.SecretActive, c.CreatedAt)
}

// RenameCredential writes the label of a pair; [sqldb.ErrExists] when it is taken.
func (d *DB) RenameCredential(ctx context.Context, id int64, label string) error {
	return d.changeCredentials(ctx, `UPDATE credentials SET label = $1 WHERE id = $2`, label, id)
}

// DeleteCredential deletes a pair.
func (d *DB) DeleteCredential(ctx context.Context, id int64) error {
	return d.changeCredentials(ctx, `DELETE FROM credentials WHERE id = $1`, id)
}

// UpdateCredential writes the values and the switches of a pair, found by its id.
func (d *DB) UpdateCredential(ctx context.Context, c Credential) error {
	return d.changeCredentials(ctx, `UPDATE credentials SET key_digest = $1, key_hint = $2, key_sealed = $3, key_active = $4, secret_hint = $5,
		secret_sealed = $6, secret_active = $7, rotated_at = $8 WHERE id = $9`,
		c.KeyDigest[:], c.KeyHint, c.KeySealed, c.KeyActive, c.SecretHint, c.SecretSealed, c.SecretActive, c.RotatedAt, c.ID)
}

// changeCredentials runs a statement that changes what is cached of credentials.
func (d *DB) changeCredentials(ctx context.Context, statement string, args ...any) error {
	if err := d.Mark(ctx, TopicCredentials, ""); err != nil {
		return err
	}
	return d.Run(ctx, statement, args...)
}
