package rules

import (
	"fmt"

	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/token"
)

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

// SetKeyValue gives a key its current value: digest, hint and sealed text.
func SetKeyValue(box *keyfile.Box, k *storedb.Key, value string) {
	k.Digest, k.Hint = KeyDigest(box, value), hint(value)
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
