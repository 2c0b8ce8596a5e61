// Package seal encrypts secrets under the key file of the data folder and makes
// the digests by which keys and purchase codes are found.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
	"sync"
)

// ErrOpen is returned for sealed bytes that were changed, or sealed for another
// purpose or under another key file.
var ErrOpen = errors.New("seal: these bytes were not sealed with this key file")

// keySize is the length of the secret in a key file, in bytes.
const keySize = 32

// Box seals and opens under one key file. It may be used by many goroutines.
type Box struct {
	aead  cipher.AEAD
	check string
	macs  sync.Pool
	mac   []byte // the key of MAC
}

// newBox derives independent keys for sealing, digests and the check value.
func newBox(secret []byte) (*Box, error) {
	derived := func(label string) ([]byte, error) {
		return hkdf.Key(sha256.New, secret, nil, "countersign "+label, keySize)
	}
	sealing, err1 := derived("seal")
	digests, err2 := derived("code digest")
	check, err3 := derived("check")
	mac, err4 := derived("mac")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	block, err := aes.NewCipher(sealing)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	b := &Box{aead: aead, check: hex.EncodeToString(check), mac: mac}
	b.macs.New = func() any { return &codeMAC{hash: hmac.New(sha256.New, digests)} }
	return b, nil
}

// Seal encrypts plain with AES-256-GCM. The purpose is bound to the result: Open
// must name the same.
func (b *Box) Seal(purpose string, plain []byte) []byte {
	nonce := make([]byte, b.aead.NonceSize(), b.aead.NonceSize()+len(plain)+b.aead.Overhead())
	rand.Read(nonce) // never returns an error
	return b.aead.Seal(nonce, nonce, plain, []byte(purpose))
}

// Open is the inverse of Seal. It returns [ErrOpen] for anything else.
func (b *Box) Open(purpose string, sealed []byte) ([]byte, error) {
	n := b.aead.NonceSize()
	if len(sealed) < n {
		return nil, ErrOpen
	}
	plain, err := b.aead.Open(nil, sealed[:n], sealed[n:], []byte(purpose))
	if err != nil {
		return nil, ErrOpen
	}
	return plain, nil
}

// CodeDigest is the keyed digest by which a purchase code is found: 63 bits, not
// negative. The caller folds the code first.
func (b *Box) CodeDigest(folded string) int64 {
	sum := b.codeSum(folded)
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

// CodeName is the keyed digest that stands for a purchase code where strangers
// read it: 128 bits in hex digits. The caller folds the code first.
func (b *Box) CodeName(folded string) string {
	sum := b.codeSum(folded)
	return hex.EncodeToString(sum[:16])
}

// codeMAC is an HMAC that is used again, with room for what it reads and writes:
// every validation makes one.
type codeMAC struct {
	hash    hash.Hash
	in, sum []byte
}

func (b *Box) codeSum(folded string) (sum [sha256.Size]byte) {
	mac := b.macs.Get().(*codeMAC)
	defer b.macs.Put(mac)
	mac.hash.Reset()
	mac.in = append(mac.in[:0], folded...)
	mac.hash.Write(mac.in)
	mac.sum = mac.hash.Sum(mac.sum[:0])
	copy(sum[:], mac.sum)
	return sum
}

// Check is the value that a database keeps to recognise its key file. It tells
// nothing about the key.
func (b *Box) Check() string { return b.check }

// Matches tells whether check was made with this key file.
func (b *Box) Matches(check string) bool {
	return subtle.ConstantTimeCompare([]byte(b.check), []byte(check)) == 1
}

// KeyName is the short name of the key file that made a check value, for
// messages: its first eight characters.
func KeyName(check string) string {
	return strings.ToLower(check[:min(8, len(check))])
}

// KeyDigest is the digest by which an API key is found: SHA-256, which is enough
// for a random key of 256 bits and stays valid when the key file is replaced.
func KeyDigest(key string) [sha256.Size]byte {
	var room [128]byte // enough for most keys, without memory of its own
	return sha256.Sum256(append(room[:0], key...))
}
