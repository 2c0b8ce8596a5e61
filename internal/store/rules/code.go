// Package rules validates single values of the store: workspaces, items, purchases,
// codes and key values. It has no state.
package rules

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

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
	text = strings.TrimFunc(text, func(r rune) bool { return isInvisible(r) || isTypographicHyphen(r) })
	code, ok := CleanCode(text)
	form := fmt.Sprintf("a purchase code is 1 to %d printable ASCII characters", MaxCode)
	switch i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }); {
	case strings.Contains(text, "+") && scientific.MatchString(text):
		return "", fault.Invalid(fault.CodeInvalid, fmt.Sprintf("a spreadsheet has changed this code to %s; format the column as text", text))
	case i >= 0:
		r, _ := utf8.DecodeRuneInString(text[i:])
		return "", fault.Invalid(fault.CodeInvalid, fmt.Sprintf("%s; this one contains %s", form, character(r)))
	case !ok:
		return "", fault.Invalid(fault.CodeInvalid, form)
	}
	return code, nil
}

// scientific is what a spreadsheet makes of a code of many digits.
var scientific = regexp.MustCompile(`^[0-9](?:[.,][0-9]+)?[eE]\+[0-9]{1,3}$`)

// TrimInvisible takes spaces and characters that nobody sees away from both ends of a text.
func TrimInvisible(text string) string { return strings.TrimFunc(text, isInvisible) }

func isInvisible(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// isTypographicHyphen reports whether a text program may have put r in place of a hyphen.
func isTypographicHyphen(r rune) bool { return r != '-' && unicode.Is(unicode.Pd, r) || r == '\u2212' }

// character names a character for people, who may not see it.
func character(r rune) string {
	kind := "the character"
	switch {
	case r == utf8.RuneError:
		return "a character that can't be read"
	case isInvisible(r):
		return fmt.Sprintf("an invisible character or space (U+%04X)", r)
	case unicode.IsControl(r):
		return fmt.Sprintf("a control character (U+%04X)", r)
	case isTypographicHyphen(r):
		kind = "a typographic hyphen or dash"
	case unicode.Is(unicode.Pi, r) || unicode.Is(unicode.Pf, r) || r == '\u201e' || r == '\u201a':
		kind = "a typographic quotation mark"
	}
	return fmt.Sprintf("%s %q (U+%04X)", kind, string(r), r)
}
