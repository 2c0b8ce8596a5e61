package sample

import (
	"crypto/sha256"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/token"
)

// SecretKey returns the secret key (csk_) that a label stands for. It has the form
// of a real one, checksum included, and is as public as this file.
func SecretKey(label string) string { return key("csk_", label) }

// PublishableKey returns the publishable key (csp_) that a label stands for.
func PublishableKey(label string) string { return key("csp_", label) }

func key(prefix, label string) string {
	return token.Of(prefix, sha256.Sum256([]byte("countersign sample key: "+prefix+label)))
}

func secretKeyLine(workspace string) string {
	return fmt.Sprintf(`{"type":"key","workspace":%q,"name":"web","key":%q}`, workspace, SecretKey(workspace))
}

// keyLines returns a secret key for every workspace and one publishable key.
func keyLines() []string {
	var lines []string
	for _, w := range decoded[countersign.Account](workspaceLines) {
		lines = append(lines, secretKeyLine(w.Username))
	}
	return append(lines, fmt.Sprintf(
		`{"type":"key","workspace":%q,"name":"in-product","class":"publishable","item_id":%d,"key":%q}`,
		demoWorkspace, publishableItem, PublishableKey(demoWorkspace)))
}
