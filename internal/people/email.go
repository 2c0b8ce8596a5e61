package people

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

var emailPattern = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)

// maxEmail is the most bytes of an e-mail address (RFC 5321).
const maxEmail = 254

var errEmail = fault.Invalid("email_invalid", "Invalid e-mail address: expected one like ada@site.example")

// CleanEmail brings an e-mail into the form it is kept in, which addresses that look alike share: trimmed, in NFKC and
// lower case, its domain in ASCII (xn--…). The error is email_invalid, also for letters of several scripts in one name, and
// for characters that nobody sees.
func CleanEmail(text string) (string, error) {
	email := norm.NFKC.String(typedEmail(norm.NFKC.String(text)))
	name, domain, _ := strings.Cut(email, "@")
	if !emailPattern.MatchString(email) || mixesScripts(name) || strings.ContainsFunc(email, isInvisible) {
		return "", errEmail
	}
	if !isASCII(domain) {
		ascii, err := idna.Lookup.ToASCII(domain)
		if err != nil || mixesScripts(domain) {
			return "", errEmail
		}
		domain = ascii
	}
	if email = name + "@" + domain; len(email) > maxEmail || lacksLabel(domain) {
		return "", errEmail
	}
	return email, nil
}

// typedEmail is an e-mail trimmed and in lower case, as older versions kept it; "" for what is not one.
func typedEmail(text string) string {
	email := strings.ToLower(strings.TrimSpace(text))
	unprintable := strings.ContainsFunc(email, func(r rune) bool { return !unicode.IsPrint(r) })
	if len(email) > maxEmail || !utf8.ValidString(text) || unprintable || !emailPattern.MatchString(email) {
		return ""
	}
	return email
}

// isInvisible reports whether a letter or a mark has no shape of its own, as a variation selector and a Hangul filler.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// lacksLabel reports whether a part of a domain is empty, as in "shop.example.", which is the same domain without the dot.
func lacksLabel(domain string) bool {
	return strings.HasPrefix(domain, ".") || strings.HasSuffix(domain, ".") || strings.Contains(domain, "..")
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// scripts are those that one word may have together (Unicode TS 39, highly restrictive), beside each alone.
var scripts = [][]string{{"Latin", "Han", "Hiragana", "Katakana"}, {"Latin", "Han", "Bopomofo"}, {"Latin", "Han", "Hangul"}}

// mixesScripts reports whether letters of a text are of scripts that are not written together, as in "аda" with a Cyrillic а.
func mixesScripts(text string) bool {
	if isASCII(text) {
		return false
	}
	found := map[string]bool{}
	for _, r := range text {
		if name := scriptOf(r); name != "" {
			found[name] = true
		}
	}
	if len(found) < 2 {
		return false
	}
	for _, together := range scripts {
		n := 0
		for _, name := range together {
			if found[name] {
				n++
			}
		}
		if n == len(found) {
			return false
		}
	}
	return true
}

// scriptOf is the script of a letter, "" for what several have.
func scriptOf(r rune) string {
	if unicode.In(r, unicode.Common, unicode.Inherited) {
		return ""
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return ""
}

// keptEmail is the e-mail of a user as it is kept, for what somebody typed. Users whom an older version created may have
// another form than [CleanEmail]; of an e-mail that nobody has, it is that form, or the error.
func keptEmail(ctx context.Context, db *peopledb.DB, text string) (string, error) {
	email, wrong := CleanEmail(text)
	entered := typedEmail(text)
	if entered == "" || entered == email {
		return email, wrong
	}
	switch _, err := db.UserNamed(ctx, entered); {
	case err == nil:
		return entered, nil
	case !errors.Is(err, sqldb.ErrNotFound):
		return "", err
	}
	return email, wrong
}

// checkFree is email_taken when a user other than the one with an id has an e-mail, in any form.
func checkFree(ctx context.Context, tx *peopledb.DB, email string, id int64) error {
	all, err := tx.Users(ctx)
	if err != nil {
		return err
	}
	for _, u := range all {
		if same, err := CleanEmail(u.Email); err == nil && same == email && u.ID != id {
			return errEmailTaken(u.Email)
		}
	}
	return nil
}
