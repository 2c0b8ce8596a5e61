package rules

import (
	"strings"

	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/token"
)

// The prefixes of the keys that the store makes.
const (
	prefixSecret      = "csk_"
	prefixPublishable = "csp_"
)

// NewKeyValue makes the value of a new key.
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

// hint is what a list shows of a key: its ends, as far as they give nothing away.
func hint(key string) string {
	switch {
	case IsOurs(key):
		return token.Hint(key)
	case len(key) >= 24:
		return "…" + key[len(key)-4:]
	}
	return "…"
}
