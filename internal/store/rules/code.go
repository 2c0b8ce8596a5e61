// Package rules validates single values of the store: workspaces, items, purchases,
// codes and key values. It has no state.
package rules

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/store/storedb"
)

// MaxCode is the length of the longest purchase code.
const MaxCode = 128

// CleanCode takes the spaces around a purchase code away and reports whether it
// is one: 1 to 128 printable ASCII characters.
func CleanCode(text string) (code string, ok bool) {
	code = strings.TrimSpace(text)
	if code == "" || len(code) > MaxCode {
		return "", false
	}
	for i := range len(code) {
		if code[i] < ' ' || code[i] > '~' {
			return "", false
		}
	}
	return code, true
}

// LookupCode is CleanCode for a lookup. What can't be a code is looked up, too, and
// found nowhere, so that it takes as long as a code that nobody has: as many bytes of
// it as a code may have.
func LookupCode(text string) string {
	if code, ok := CleanCode(text); ok {
		return code
	}
	return "\x00" + text[:min(len(text), MaxCode)] // the First byte keeps it apart from all codes
}

// FoldCode makes codes that differ in the case of ASCII letters alike.
func FoldCode(code string) string {
	for i := range len(code) {
		if 'A' <= code[i] && code[i] <= 'Z' {
			return LowerASCII(code)
		}
	}
	return code
}

// LowerASCII is [strings.ToLower] for ASCII letters alone, in the same time for all
// texts of a length.
func LowerASCII(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + ('a' - 'A')
		}
	}
	return string(lower)
}

// CodeDigest is the digest by which a clean code is found.
func CodeDigest(box *keyfile.Box, code string) storedb.Digest {
	return box.CodeDigest(FoldCode(code))
}

// CheckCode returns what is wrong with a purchase code that is to be written.
func CheckCode(text string) (string, error) {
	code, ok := CleanCode(text)
	if !ok {
		return "", fault.Invalid(fault.CodeInvalid, fmt.Sprintf("a purchase code is 1 to %d printable ASCII characters", MaxCode))
	}
	return code, nil
}
