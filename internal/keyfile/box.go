// Package keyfile encrypts secrets under the key file of a data folder, makes the
// digests by which keys and purchase codes are found, and checks that a key file and a
// database belong together: the database keeps a check value of its key file, and a
// service whose key file does not match does not start.
package keyfile

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
var ErrOpen = errors.New("keyfile: these bytes were not sealed with this key file")

// keySize is the length of the secret in a key file, in bytes.
const keySize = 32

// Box seals and opens under one key file. It may be used by many goroutines.
type Box struct {
	aead  cipher.AEAD
	check string
	codes macPool // of purchase codes
	keys  macPool // of API keys
	mac   []byte  // the key of MAC
}

// newBox derives independent keys for sealing, digests and the check value.
func newBox(secret []byte) (*Box, error) {
	var derived [5][]byte
	for i, label := range []string{"seal", "code digest", "key digest", "check", "mac"} {
		var err error
		if derived[i], err = hkdf.Key(sha256.New, secret, nil, "countersign "+label, keySize); err != nil {
			return nil, fmt.Errorf("keyfile: %w", err)
		}
	}
	sealing, codes, keys, check, mac := derived[0], derived[1], derived[2], derived[3], derived[4]
	block, err := aes.NewCipher(sealing)
	if err != nil {
		return nil, fmt.Errorf("keyfile: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("keyfile: %w", err)
	}
	return &Box{aead: aead, check: hex.EncodeToString(check), codes: newMACs(codes), keys: newMACs(keys), mac: mac}, nil
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
	sum := b.codes.sum(folded)
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

// CodeName is the keyed digest that stands for a purchase code where strangers
// read it: 128 bits in hex digits. The caller folds the code first.
func (b *Box) CodeName(folded string) string {
	sum := b.codes.sum(folded)
	return hex.EncodeToString(sum[:16])
}

// KeyDigest is the keyed digest by which an API key is found that somebody else
// chose: it may be short, so that a plain digest would give it away.
func (b *Box) KeyDigest(key string) [sha256.Size]byte { return b.keys.sum(key) }

// Name is a keyed digest that stands for a text in counts: 128 bits. It is of no use
// with another key file.
func (b *Box) Name(text string) (name [16]byte) {
	sum := b.codes.sum("name\x00" + text) // no code has a NUL
	return [16]byte(sum[:len(name)])
}

// macPool creates HMACs under one key.
type macPool struct{ pool *sync.Pool }

func newMACs(key []byte) macPool {
	return macPool{&sync.Pool{New: func() any { return &textMAC{hash: hmac.New(sha256.New, key)} }}}
}

// textMAC is an HMAC that is used again, with room for what it reads and writes:
// every validation makes one.
type textMAC struct {
	hash    hash.Hash
	in, sum []byte
}

func (m macPool) sum(text string) (sum [sha256.Size]byte) {
	mac := m.pool.Get().(*textMAC)
	defer m.pool.Put(mac)
	mac.hash.Reset()
	mac.in = append(mac.in[:0], text...)
	mac.hash.Write(mac.in)
	mac.sum = mac.hash.Sum(mac.sum[:0])
	copy(sum[:], mac.sum)
	return sum
}

// Check is the value that a database keeps to recognise its key file. It tells
// nothing about the key.
func (b *Box) Check() string { return b.check }

// Matches reports whether check was made with this key file.
func (b *Box) Matches(check string) bool {
	return subtle.ConstantTimeCompare([]byte(b.check), []byte(check)) == 1
}

// KeyName is the short name of the key file that made a check value, for
// messages: its first eight characters.
func KeyName(check string) string {
	return strings.ToLower(check[:min(8, len(check))])
}

// MAC returns the HMAC-SHA256 of a message under the key file. The purpose is bound
// to it: one purpose's MAC is never valid for another.
func (b *Box) MAC(purpose string, message []byte) [sha256.Size]byte {
	mac := hmac.New(sha256.New, b.mac)
	mac.Write(binary.AppendUvarint(nil, uint64(len(purpose))))
	mac.Write([]byte(purpose))
	mac.Write(message)
	return [sha256.Size]byte(mac.Sum(nil))
}

// ValidMAC reports whether mac is the [Box.MAC] of a message.
func (b *Box) ValidMAC(purpose string, message, mac []byte) bool {
	want := b.MAC(purpose, message)
	return hmac.Equal(want[:], mac)
}
