package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Sum is how many things there are, and their sum: the SHA-256 of each, added up modulo 2^256.
// It does not depend on their order, which differs from engine to engine.
type Sum struct {
	Count int64  `json:"count"`
	Sum   Digest `json:"sum"`
}

// Digest is a number of 256 bits.
type Digest [sha256.Size]byte

// add adds one thing.
func (s *Sum) add(one [sha256.Size]byte) {
	s.Count++
	carry := uint(0)
	for i := len(s.Sum) - 1; i >= 0; i-- {
		carry += uint(s.Sum[i]) + uint(one[i])
		s.Sum[i] = byte(carry)
		carry >>= 8
	}
}

// MarshalText writes hexadecimal digits.
func (d Digest) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(d[:])), nil }

// UnmarshalText reads hexadecimal digits.
func (d *Digest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) {
		return fmt.Errorf("a sum has %d digits", hex.EncodedLen(len(d)))
	}
	_, err := hex.Decode(d[:], text)
	return err
}
