package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Revision identifies a content, so that somebody who saw it can say so. The content is one that
// can be written as JSON.
func Revision(content any) string {
	text, err := json.Marshal(content)
	if err != nil {
		panic(err) // it is text
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
