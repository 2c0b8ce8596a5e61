// Package input checks what people and programs type: the rules that settings,
// packages and credentials share, and the error that names what is wrong.
package input

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/fault"
)

// MaxTitle is the longest name, in characters.
const MaxTitle = 100

var secretPattern = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY|"private_key"|\b(cas|csk)_[0-9A-Za-z]{43}`)

// Title returns a name that people read without the spaces around it, or the problem
// with it. A name is one line of visible text.
func Title(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	if problem := Line(text, MaxTitle); problem != "" {
		return "", problem
	}
	return text, ""
}

// Line returns the problem with a text that has to be a single line of up to limit
// characters that both engines can store, and not a secret; "" when there is no problem.
func Line(text string, limit int) (problem string) {
	switch {
	case !utf8.ValidString(text):
		return "It is not UTF-8 text"
	case utf8.RuneCountInString(text) > limit:
		return fmt.Sprintf("It is longer than %d characters", limit)
	case strings.ContainsFunc(text, unicode.IsControl):
		return "It has line breaks or other control characters"
	}
	return NoSecret(text)
}

// NoSecret refuses a secret where everybody could read it.
func NoSecret(text string) (problem string) {
	if secretPattern.MatchString(text) {
		return "This looks like a secret. Public settings can be read by anyone"
	}
	return ""
}

// Shorten shortens a text that somebody sent, for a message.
func Shorten(text string) string {
	characters := []rune(text)
	if len(characters) <= 60 {
		return text
	}
	return string(characters[:60]) + "…"
}

// Invalid is the error of fields of a form that are wrong, by their names: of kind Invalid with a code. Its message is
// what is wrong with each.
func Invalid(code string, fields map[string]string) error {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		texts = append(texts, fields[name])
	}
	return fault.WithFields(fault.Invalid(code, strings.Join(texts, ". ")), fields)
}

// Refused is the error of values that are wrong, by their names: of kind Invalid with
// the code settings_invalid.
func Refused(fields map[string]string) error {
	const maxListed = 5 // in the message; Fields has all
	var text []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if len(text) == maxListed {
			text = append(text, fmt.Sprintf("And %d more", len(fields)-maxListed))
			break
		}
		text = append(text, Shorten(name)+": "+fields[name])
	}
	return fault.WithFields(fault.Invalid("settings_invalid", "Nothing was changed. "+strings.Join(text, ". ")), fields)
}

// Severity distinguishes what stops a publish from what the owner ought to know.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is something about the settings as a whole.
type Problem struct {
	Severity Severity `json:"severity"`
	Key      string   `json:"key"` // the setting it is about, "" for none
	Text     string   `json:"text"`
}
