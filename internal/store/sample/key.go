package sample

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"math/big"
	"strings"
)

// publishableItem is the item that the demo's publishable key is bound to.
const publishableItem = 1022

// SecretKey returns the secret key (csk_) that a label stands for. It has the form
// of a real one, checksum included, and is as public as this file.
func SecretKey(label string) string { return key("csk_", label) }

// PublishableKey returns the publishable key (csp_) that a label stands for.
func PublishableKey(label string) string { return key("csp_", label) }

func key(prefix, label string) string {
	bits := sha256.Sum256([]byte("countersign sample key: " + prefix + label))
	text := prefix + base62(new(big.Int).SetBytes(bits[:]), 43)
	sum := crc32.ChecksumIEEE([]byte(text))
	return text + base62(new(big.Int).SetUint64(uint64(sum)), 6)
}

// base62 writes n with the digits 0-9A-Za-z, padded with zeros to a width.
func base62(n *big.Int, width int) string {
	digits := strings.Map(swapCase, n.Text(62)) // math/big counts 0-9a-zA-Z
	return strings.Repeat("0", width-len(digits)) + digits
}

func swapCase(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return r - 'a' + 'A'
	case r >= 'A' && r <= 'Z':
		return r - 'A' + 'a'
	}
	return r
}

// keyLines returns a secret key for every workspace and one publishable key.
func keyLines() []string {
	var lines []string
	for _, workspace := range workspaces() {
		lines = append(lines, fmt.Sprintf(`{"type":"key","workspace":%q,"name":"web","key":%q}`,
			workspace, SecretKey(workspace)))
	}
	return append(lines, fmt.Sprintf(
		`{"type":"key","workspace":%q,"name":"in-product","class":"publishable","item_id":%d,"key":%q}`,
		demoWorkspace, publishableItem, PublishableKey(demoWorkspace)))
}
