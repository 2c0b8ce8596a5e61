package rules

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/token"
)

// CheckKeyScope holds a publishable key to an item of its workspace, and a secret
// one to none. The item stays until the transaction ends.
func CheckKeyScope(ctx context.Context, tx *storedb.DB, k storedb.Key) error {
	switch {
	case k.Class == storedb.ClassSecret && k.ItemID != 0:
		return fault.Invalid(fault.CodeInvalid, "A secret key can use all items; only a publishable key is bound to one")
	case k.Class == storedb.ClassSecret:
		return nil
	case k.Class != storedb.ClassPublishable:
		return fault.Invalid(fault.CodeInvalid, fmt.Sprintf("A key's class is secret or publishable, not %q", k.Class))
	case k.ItemID == 0:
		return fault.Invalid(fault.CodeInvalid, "A publishable key needs one item")
	}
	item, err := tx.KeepItem(ctx, k.ItemID)
	if errors.Is(err, sqldb.ErrNotFound) || (err == nil && item.WorkspaceID != k.WorkspaceID) {
		return fault.NotFound("item_not_found", fmt.Sprintf("No item %[2]d in the workspace %[1]s", k.Workspace, k.ItemID))
	}
	return err
}

// Passed reports whether an end has come; no end never comes.
func Passed(end countersign.Timestamp, now time.Time) bool {
	return !end.IsZero() && !now.Before(end.Time)
}

// KeyDigest is the digest by which a key's value is found. One that the store made is
// random, so a plain digest gives nothing away and outlives the key file; one that was
// imported may be short, so its digest is keyed with the key file.
func KeyDigest(box *keyfile.Box, value string) storedb.KeyDigest {
	if IsOurs(value) {
		return token.Digest(value)
	}
	return box.KeyDigest(value)
}

// IsDigestOf reports whether a digest is that of a key's value, also an imported one's
// from before such digests were keyed.
func IsDigestOf(box *keyfile.Box, digest storedb.KeyDigest, value string) bool {
	return digest == KeyDigest(box, value) || digest == token.Digest(value)
}

// SetKeyValue sets the current value of a key: digest, hint and sealed text.
func SetKeyValue(box *keyfile.Box, k *storedb.Key, value string) {
	k.Digest, k.Hint = KeyDigest(box, value), Hint(value)
	k.Sealed = SealKeyValue(box, k.Digest, value)
}

// SealKeyValue seals a key's value. It is bound to its digest, so that values can't be
// swapped.
func SealKeyValue(box *keyfile.Box, digest storedb.KeyDigest, value string) []byte {
	return box.Seal(sealPurpose(digest), []byte(value))
}

// OpenKeyValue opens a key's sealed value; ok is false when it was dropped, or sealed
// with another key file.
func OpenKeyValue(box *keyfile.Box, digest storedb.KeyDigest, sealed []byte) (value string, ok bool) {
	plain, err := box.Open(sealPurpose(digest), sealed)
	return string(plain), err == nil
}

func sealPurpose(digest storedb.KeyDigest) string { return fmt.Sprintf("api key %x", digest) }

// CarryKeyValue brings a key's value from one key file to another: its digest, and its
// sealed text, nil when that can't be opened.
func CarryKeyValue(old, fresh *keyfile.Box, digest storedb.KeyDigest, sealed []byte) (storedb.KeyDigest, []byte) {
	if old == nil || sealed == nil {
		return digest, nil
	}
	value, ok := OpenKeyValue(old, digest, sealed)
	if !ok {
		return digest, nil
	}
	digest = KeyDigest(fresh, value)
	return digest, SealKeyValue(fresh, digest, value)
}

// The prefixes of the keys that the store makes.
const (
	prefixSecret      = "csk_"
	prefixPublishable = "csp_"
)

// NewKeyValue creates the value of a new key.
func NewKeyValue(class storedb.Class) string {
	if class == storedb.ClassPublishable {
		return token.New(prefixPublishable)
	}
	return token.New(prefixSecret)
}

// IsOurs reports whether a key, or the hint of one, begins as those do that the store
// makes. Others were imported.
func IsOurs(key string) bool {
	return strings.HasPrefix(key, prefixSecret) || strings.HasPrefix(key, prefixPublishable)
}

// Mistyped reports whether the checksum of a key that begins as ours do is wrong.
// Keys of other makers are opaque.
func Mistyped(key string) bool {
	return IsOurs(key) && !token.Valid(prefixSecret, key) && !token.Valid(prefixPublishable, key)
}

// Hint is what a list shows of a key: its ends, as far as they give nothing away.
func Hint(key string) string {
	switch {
	case IsOurs(key):
		return token.Hint(key)
	case len(key) >= 24:
		return "…" + key[len(key)-4:]
	}
	return "…"
}
