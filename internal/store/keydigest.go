package store

import (
	"context"

	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// The name under which the database says how the digests of imported keys were made,
// and the values: migration 4 writes the first.
const (
	keyDigests   = "key_digests"
	plainDigests = "plain"
	keyedDigests = "keyed"
)

// keyImportedKeys keys the digests of imported keys that an earlier version has
// written, once. A value that can't be opened stays as it is, and is found by its
// plain digest.
func (s *Store) keyImportedKeys(ctx context.Context, box *keyfile.Box) error {
	made, err := s.db.Meta(ctx, keyDigests)
	if err != nil || made != plainDigests {
		return err
	}
	// Many keys take longer than a transaction has outside a session.
	return s.db.Session(ctx, func(session *storedb.DB) error {
		return session.Tx(ctx, func(tx *storedb.DB) error { return keyPlainDigests(ctx, tx, box) })
	})
}

func keyPlainDigests(ctx context.Context, tx *storedb.DB, box *keyfile.Box) error {
	if err := keyfile.Same(ctx, tx.Queries, box); err != nil {
		return err
	}
	made, err := tx.Meta(ctx, keyDigests)
	if err != nil || made != plainDigests { // another server was first
		return err
	}
	keys, err := tx.Keys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := keyImportedKey(ctx, tx, box, k.ID); err != nil {
			return err
		}
	}
	return tx.SetMeta(ctx, keyDigests, keyedDigests)
}

func keyImportedKey(ctx context.Context, tx *storedb.DB, box *keyfile.Box, id int64) error {
	k, err := tx.LockKey(ctx, id)
	if err != nil {
		return err
	}
	changed := false
	carry := func(digest *storedb.KeyDigest, sealed *[]byte) {
		if keyed, again := rules.CarryKeyValue(box, box, *digest, *sealed); keyed != *digest {
			*digest, *sealed, changed = keyed, again, true
		}
	}
	carry(&k.Digest, &k.Sealed)
	if k.Previous != nil {
		carry(k.Previous, &k.PreviousSealed)
	}
	if !changed {
		return nil
	}
	return tx.UpdateKey(ctx, k)
}
