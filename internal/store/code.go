package store

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/store/storedb"
)

// maxCode is the length of the longest purchase code.
const maxCode = 128

// cleanCode takes the spaces around a purchase code away and tells whether it
// is one: 1 to 128 printable ASCII characters.
func cleanCode(text string) (code string, ok bool) {
	code = strings.TrimSpace(text)
	if code == "" || len(code) > maxCode {
		return "", false
	}
	for i := range len(code) {
		if code[i] < ' ' || code[i] > '~' {
			return "", false
		}
	}
	return code, true
}

// foldCode makes codes that differ in the case of ASCII letters alike.
func foldCode(code string) string {
	for i := range len(code) {
		if 'A' <= code[i] && code[i] <= 'Z' {
			return strings.ToLower(code) // ASCII alone, by cleanCode
		}
	}
	return code
}

// digest is the digest by which a clean code is found.
func (s *Store) digest(code string) storedb.Digest {
	return s.box.Load().CodeDigest(foldCode(code))
}

// checkCode says what is wrong with a purchase code that is to be written.
func checkCode(text string) (string, error) {
	code, ok := cleanCode(text)
	if !ok {
		return "", invalid(fmt.Sprintf("a purchase code is 1 to %d printable ASCII characters", maxCode))
	}
	return code, nil
}
