package storedb

import (
	"context"
	"crypto/sha256"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// Class describes what a key may do.
type Class string

// The classes of key.
const (
	// ClassSecret opens all endpoints.
	ClassSecret Class = "secret"
	// ClassPublishable validates purchases of one item, nothing else.
	ClassPublishable Class = "publishable"
)

// KeyDigest is the digest by which a key is found.
type KeyDigest = [sha256.Size]byte

// Key is an API key: its current value and at most one earlier one, each as a
// digest and, where the owner may see it again, sealed.
type Key struct {
	ID          int64
	WorkspaceID int64
	Workspace   string // the workspace's username
	Name        string
	Class       Class
	ItemID      int64 // 0 for all items
	Hint        string
	Digest      KeyDigest
	Sealed      []byte
	// Previous is the value before the last rotation; nil when there is none.
	Previous          *KeyDigest
	PreviousSealed    []byte
	PreviousExpiresAt countersign.Timestamp
	CreatedAt         countersign.Timestamp
	ExpiresAt         countersign.Timestamp // zero: never
	RevokedAt         countersign.Timestamp // zero: not revoked
	LastUsedAt        countersign.Timestamp
	LastUsedFrom      string
	UsedCount         int64
}

const selectKeys = `SELECT k.id, k.workspace_id, w.username, k.name, k.class, coalesce(k.item_id, 0), k.hint, k.digest, k.sealed,
	k.previous_digest, k.previous_sealed, k.previous_expires_at, k.created_at, k.expires_at, k.revoked_at,
	k.last_used_at, k.last_used_from, k.used_count
	FROM keys k JOIN workspaces w ON w.id = k.workspace_id `

func scanKey(r sqldb.Row) (k Key, err error) {
	var digest, previous []byte
	err = r.Scan(&k.ID, &k.WorkspaceID, &k.Workspace, &k.Name, &k.Class, &k.ItemID, &k.Hint, &digest, &k.Sealed,
		&previous, &k.PreviousSealed, column(&k.PreviousExpiresAt), column(&k.CreatedAt), column(&k.ExpiresAt), column(&k.RevokedAt),
		column(&k.LastUsedAt), &k.LastUsedFrom, &k.UsedCount)
	copy(k.Digest[:], digest)
	if len(previous) == len(k.Digest) {
		k.Previous = (*KeyDigest)(previous)
	}
	return k, err
}

// Keys lists the keys of all workspaces by workspace and name.
func (d *DB) Keys(ctx context.Context) ([]Key, error) {
	return sqldb.List(ctx, d.Queries, scanKey, selectKeys+`ORDER BY w.username, k.name`)
}

// KeysOf lists the keys of a workspace by name.
func (d *DB) KeysOf(ctx context.Context, workspace int64) ([]Key, error) {
	return sqldb.List(ctx, d.Queries, scanKey, selectKeys+`WHERE k.workspace_id = $1 ORDER BY k.name`, workspace)
}

// Key reads one by its id.
func (d *DB) Key(ctx context.Context, id int64) (Key, error) {
	return sqldb.One(ctx, d.Queries, scanKey, selectKeys+`WHERE k.id = $1`, id)
}

// LockKey reads one by its id and makes others who would change it wait until
// the transaction ends, so that neither undoes what the other did.
func (d *DB) LockKey(ctx context.Context, id int64) (Key, error) {
	return sqldb.Locked(ctx, d.Queries, "keys", "id", id, d.Key)
}

// KeyNamed reads one by its workspace and name.
func (d *DB) KeyNamed(ctx context.Context, workspace int64, name string) (Key, error) {
	return sqldb.One(ctx, d.Queries, scanKey, selectKeys+`WHERE k.workspace_id = $1 AND k.name = $2`, workspace, name)
}

// KeyWithDigest finds the key that has this value now or had it before.
func (d *DB) KeyWithDigest(ctx context.Context, digest KeyDigest) (Key, error) {
	return sqldb.One(ctx, d.Queries, scanKey, selectKeys+`WHERE k.digest = $1 OR k.previous_digest = $1`, digest[:])
}

// AddKey writes a new one; [sqldb.ErrExists] when its name is taken.
func (d *DB) AddKey(ctx context.Context, k Key) (id int64, err error) {
	if err := d.Mark(ctx, TopicKeys, ""); err != nil {
		return 0, err
	}
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO keys (workspace_id, name, class, item_id, hint, digest, sealed,
		previous_digest, previous_sealed, previous_expires_at, created_at, expires_at, revoked_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING id`,
		k.WorkspaceID, k.Name, string(k.Class), sqldb.NullID(k.ItemID), k.Hint, k.Digest[:], sqldb.NullBytes(k.Sealed),
		previousDigest(k), sqldb.NullBytes(k.PreviousSealed), column(&k.PreviousExpiresAt), column(&k.CreatedAt),
		column(&k.ExpiresAt), column(&k.RevokedAt))
}

// UpdateKey writes the values, the scope and the times of a key, found by its id.
func (d *DB) UpdateKey(ctx context.Context, k Key) error {
	return d.Change(ctx, TopicKeys, `UPDATE keys SET class = $1, item_id = $2, hint = $3, digest = $4, sealed = $5, previous_digest = $6,
		previous_sealed = $7, previous_expires_at = $8, expires_at = $9, revoked_at = $10 WHERE id = $11`,
		string(k.Class), sqldb.NullID(k.ItemID), k.Hint, k.Digest[:], sqldb.NullBytes(k.Sealed), previousDigest(k),
		sqldb.NullBytes(k.PreviousSealed), column(&k.PreviousExpiresAt), column(&k.ExpiresAt), column(&k.RevokedAt), k.ID)
}

// CachedKey is what a request needs to know of a key.
type CachedKey struct {
	ID, WorkspaceID, ItemID int64
	Class                   Class
	Hint                    string
	Digest                  KeyDigest
	Previous                *KeyDigest
	PreviousExpiresAt       countersign.Timestamp
	ExpiresAt               countersign.Timestamp
	RevokedAt               countersign.Timestamp
	Switches                Switches
}

const selectCachedKeys = `SELECT k.id, k.workspace_id, coalesce(k.item_id, 0), k.class, k.hint, k.digest, k.previous_digest,
	k.previous_expires_at, k.expires_at, k.revoked_at, w.always_200, w.refuse_query_keys, w.quota
	FROM keys k JOIN workspaces w ON w.id = k.workspace_id `

func scanCachedKey(r sqldb.Row) (k CachedKey, err error) {
	var digest, previous []byte
	err = r.Scan(&k.ID, &k.WorkspaceID, &k.ItemID, &k.Class, &k.Hint, &digest, &previous, column(&k.PreviousExpiresAt),
		column(&k.ExpiresAt), column(&k.RevokedAt), &k.Switches.Always200, &k.Switches.RefuseQueryKeys, &k.Switches.Quota)
	copy(k.Digest[:], digest)
	if len(previous) == len(k.Digest) {
		k.Previous = (*KeyDigest)(previous)
	}
	return k, err
}

// CachedKeys lists what the cache needs of all keys.
func (d *DB) CachedKeys(ctx context.Context) ([]CachedKey, error) {
	return sqldb.List(ctx, d.Queries, scanCachedKey, selectCachedKeys)
}

// CachedKey finds the key that has this value now or had it before.
func (d *DB) CachedKey(ctx context.Context, digest KeyDigest) (CachedKey, error) {
	return sqldb.One(ctx, d.Queries, scanCachedKey, selectCachedKeys+`WHERE k.digest = $1 OR k.previous_digest = $1`, digest[:])
}

func previousDigest(k Key) any {
	if k.Previous == nil {
		return nil
	}
	return k.Previous[:]
}
