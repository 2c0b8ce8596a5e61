package people

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/fault"
)

var emailPattern = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)

// maxEmail is the most bytes of an e-mail address (RFC 5321).
const maxEmail = 254

// CleanEmail brings an e-mail into the form it is kept in: trimmed, in lower case. The error
// is email_invalid.
func CleanEmail(text string) (string, error) {
	email := strings.ToLower(strings.TrimSpace(text))
	unprintable := strings.ContainsFunc(email, func(r rune) bool { return !unicode.IsPrint(r) })
	if len(email) > maxEmail || !utf8.ValidString(text) || unprintable || !emailPattern.MatchString(email) {
		return "", fault.Invalid("email_invalid", "Invalid e-mail address: expected one like ada@site.example")
	}
	return email, nil
}
