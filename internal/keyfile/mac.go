package keyfile

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

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
