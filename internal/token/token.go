// Package token makes the API keys, secrets and one-time tokens of both services,
// and recognises them.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
)

// A token is a prefix of four characters that names its kind, 43 base62 characters
// (256 random bits) and six of a CRC-32 over what stands before, so that a typo or a
// leak is recognised without a lookup.
const (
	prefixLength   = 4
	randomLength   = 43
	checksumLength = 6
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// New returns a random token. The prefix has four characters, as "csk_" has.
func New(prefix string) string {
	var secret [sha256.Size]byte
	rand.Read(secret[:]) // never returns an error
	return Of(prefix, secret)
}

// Of returns the token of 256 bits that are already there.
func Of(prefix string, secret [sha256.Size]byte) string {
	body := prefix + encode62(new(big.Int).SetBytes(secret[:]), randomLength)
	return body + checksum(body)
}

// Valid reports whether a text can be a token with this prefix: its length and its
// checksum are right.
func Valid(prefix, text string) bool {
	if len(text) != prefixLength+randomLength+checksumLength || !strings.HasPrefix(text, prefix) {
		return false
	}
	body := text[:len(text)-checksumLength]
	return checksum(body) == text[len(body):]
}

// Hint returns what a list shows of a token: its prefix and its last four characters.
func Hint(token string) string { return token[:prefixLength] + "…" + token[len(token)-4:] }

// Digest returns the digest by which a token is found: SHA-256, which is enough for a
// random token of 256 bits and stays valid when the key file is replaced.
func Digest(token string) [sha256.Size]byte {
	var buffer [128]byte // enough for most tokens, without memory of its own
	return sha256.Sum256(append(buffer[:0], token...))
}

func checksum(body string) string {
	return encode62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), checksumLength)
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
