package snippet

import (
	"fmt"
	"strings"
	"unicode"
)

// replacement stands for what can't be written into a literal.
const replacement = '\uFFFD'

// quoteShell writes a text as one word of a POSIX shell.
func quoteShell(s string) string {
	return "'" + strings.ReplaceAll(visible(s), "'", `'\''`) + "'"
}

// quotePHP writes a text as a literal of PHP, in which nothing but \ and ' is special.
func quotePHP(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(visible(s)) + "'"
}

// visible replaces what a reader can't see, for languages whose literals can't escape it.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return replacement
	}, s)
}

// quoteDouble writes a text as a literal in double quotes of a language that knows \\, \" and
// \uXXXX. special are the further characters that it escapes with a backslash.
func quoteDouble(special string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		b.WriteByte('"')
		for _, r := range s {
			switch {
			case strings.ContainsRune(`\"`+special, r):
				b.WriteByte('\\')
				b.WriteRune(r)
			case unicode.IsPrint(r):
				b.WriteRune(r)
			case r <= 0xFFFF:
				fmt.Fprintf(&b, `\u%04x`, r)
			default:
				b.WriteRune(replacement)
			}
		}
		b.WriteByte('"')
		return b.String()
	}
}
