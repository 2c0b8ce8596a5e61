// Package input checks what people and programs type: the rules that settings,
// packages and credentials share, and the error that names what is wrong.
package input

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/addon/secretscan"
	"github.com/countersign/countersign/internal/fault"
)

// MaxTitle is the longest name, in characters.
const MaxTitle = 100

// Title returns a name that people read without the spaces around it, or the problem
// with it. A name is one line of visible text that does not look like a secret.
func Title(text string) (value, problem string) {
	text = strings.TrimSpace(text)
	if problem := cmp.Or(Line(text, MaxTitle), NoSecret("", text)); problem != "" {
		return "", problem
	}
	return text, ""
}

// NoSecret returns the problem with a text that anyone can read and that looks like a
// secret; "" when it does not. key is the name under which it can be read, "" for none.
func NoSecret(key, text string) (problem string) {
	kind, found := secretscan.Find(key, text)
	if !found {
		return ""
	}
	return "This looks like " + kind + ", and anyone can read it"
}

// Line returns the problem with a text that has to be a single line of up to limit
// characters that both engines can store; "" for a valid one.
func Line(text string, limit int) (problem string) {
	switch {
	case !utf8.ValidString(text):
		return "It is not UTF-8 text"
	case utf8.RuneCountInString(text) > limit:
		return fmt.Sprintf("It is longer than %d characters", limit)
	case strings.ContainsFunc(text, unicode.IsControl):
		return "It has line breaks or other control characters"
	}
	return ""
}

// MaxUserID is the longest id of a site's user, in characters.
const MaxUserID = 128

// UserID returns the problem with the id that a site has for one of its users; "" for a
// valid one. It is compared as it is, so white space around it is an error.
func UserID(text string) (problem string) {
	switch {
	case text == "":
		return "A user id is missing"
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "A user id is printable text"
	case utf8.RuneCountInString(text) > MaxUserID:
		return fmt.Sprintf("A user id has at most %d characters", MaxUserID)
	case strings.TrimSpace(text) != text:
		return "A user id has no spaces around it"
	case text == "." || text == "..":
		return "A user id can't be . or .., because addresses contain it"
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
func Refused(fields map[string]string) error { return refused("settings_invalid", fields) }

// RefusedPublish is the error of values that are right one by one and can't be published: of
// kind Invalid with the code publish_blocked.
func RefusedPublish(fields map[string]string) error { return refused("publish_blocked", fields) }

// RefusedSecrets is the error of values that are right, but look like secrets: of kind
// Invalid with the code [CodeSecretLooking].
func RefusedSecrets(fields map[string]string) error { return refused(CodeSecretLooking, fields) }

// CodeSecretLooking is the code of errors that the caller may overrule, for a false alarm.
const CodeSecretLooking = "secret_looking"

func refused(code string, fields map[string]string) error {
	const maxListed = 5 // in the message; Fields has all
	var text []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if len(text) == maxListed {
			text = append(text, fmt.Sprintf("And %d more", len(fields)-maxListed))
			break
		}
		text = append(text, Shorten(name)+": "+fields[name])
	}
	return fault.WithFields(fault.Invalid(code, "Nothing was changed. "+strings.Join(text, ". ")), fields)
}
