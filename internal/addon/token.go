package addon

import (
	"crypto/rand"
	"hash/crc32"
	"math/big"
	"strings"
)

// A key or secret of ours is a prefix, 43 base62 characters (256 random bits) and
// six of a CRC-32 over what stands before, so that a typo or a leak is recognised
// without a look-up.
const (
	prefixKey     = "cak_"
	prefixSecret  = "cas_"
	prefixUpdate  = "cau_"
	tokenRandom   = 43
	tokenChecksum = 6
	base62        = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

func newToken(prefix string) string {
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

// wellFormed tells whether a text can be a token of ours with this prefix.
func wellFormed(prefix, text string) bool {
	if len(text) != len(prefix)+tokenRandom+tokenChecksum || !strings.HasPrefix(text, prefix) {
		return false
	}
	body := text[:len(text)-tokenChecksum]
	return checksum(body) == text[len(body):]
}

// hint is what a list shows of a token: its ends.
func hint(token string) string { return token[:len(prefixKey)] + "…" + token[len(token)-4:] }
