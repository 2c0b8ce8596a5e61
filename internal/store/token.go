package store

import (
	"crypto/rand"
	"hash/crc32"
	"math/big"
	"strings"

	"github.com/countersign/countersign/internal/store/storedb"
)

// A key of ours is a prefix, 43 base62 characters (256 random bits) and six of
// a CRC-32 over what stands before, so that a typo or a leak is recognised
// without a look-up.
const (
	prefixSecret      = "csk_"
	prefixPublishable = "csp_"
	tokenRandom       = 43
	tokenChecksum     = 6
	base62            = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// newToken makes the value of a new key.
func newToken(class storedb.Class) string {
	prefix := prefixSecret
	if class == storedb.ClassPublishable {
		prefix = prefixPublishable
	}
	secret := make([]byte, 32)
	rand.Read(secret) // never returns an error
	body := prefix + encode62(new(big.Int).SetBytes(secret), tokenRandom)
	return body + checksum(body)
}

func checksum(body string) string {
	return encode62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), tokenChecksum)
}

// encode62 writes n in base 62, padded with zeros to a width.
func encode62(n *big.Int, width int) string {
	text := make([]byte, width)
	base, digit := big.NewInt(62), new(big.Int)
	n = new(big.Int).Set(n)
	for i := width - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		text[i] = base62[digit.Int64()]
	}
	return string(text)
}

// isOurs reports whether a key, or the hint of one, begins as those do that the store
// makes. Others were imported.
func isOurs(key string) bool {
	return strings.HasPrefix(key, prefixSecret) || strings.HasPrefix(key, prefixPublishable)
}

// mistyped tells of a key that begins as ours do whether its checksum is wrong.
// Keys of other makers are opaque.
func mistyped(key string) bool {
	if !isOurs(key) {
		return false
	}
	if len(key) != len(prefixSecret)+tokenRandom+tokenChecksum {
		return true
	}
	body := key[:len(key)-tokenChecksum]
	return checksum(body) != key[len(body):]
}

// hint is what a list shows of a key: its ends, as far as they give nothing away.
func hint(key string) string {
	if isOurs(key) {
		return key[:len(prefixSecret)] + "…" + key[len(key)-4:]
	}
	if len(key) >= 24 {
		return "…" + key[len(key)-4:]
	}
	return "…"
}
