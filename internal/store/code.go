package store

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/fault"
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

// lookupCode is cleanCode for a lookup. What can't be a code is looked up, too, and
// found nowhere, so that it takes as long as a code that nobody has: as many bytes of
// it as a code may have.
func lookupCode(text string) string {
	if code, ok := cleanCode(text); ok {
		return code
	}
	return "\x00" + text[:min(len(text), maxCode)] // the first byte keeps it apart from all codes
}

// foldCode makes codes that differ in the case of ASCII letters alike.
func foldCode(code string) string {
	for i := range len(code) {
		if 'A' <= code[i] && code[i] <= 'Z' {
			return lowerASCII(code)
		}
	}
	return code
}

// lowerASCII is [strings.ToLower] for ASCII letters alone, in the same time for all
// texts of a length.
func lowerASCII(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + ('a' - 'A')
		}
	}
	return string(lower)
}

// digest is the digest by which a clean code is found.
func (s *Store) digest(code string) storedb.Digest {
	return s.box.Load().CodeDigest(foldCode(code))
}

// checkCode says what is wrong with a purchase code that is to be written.
func checkCode(text string) (string, error) {
	code, ok := cleanCode(text)
	if !ok {
		return "", fault.Invalid(fault.CodeInvalid, fmt.Sprintf("a purchase code is 1 to %d printable ASCII characters", maxCode))
	}
	return code, nil
}
