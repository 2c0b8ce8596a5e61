package frame

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// URL is the address of a path of ours as a template needs it: with the path
// prefix of the request's frame. A whole http or https URL is left as it is.
func URL(ctx context.Context, path string) templ.SafeURL {
	if strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://") {
		return templ.SafeURL(path)
	}
	if !isOurs(path) {
		return "#"
	}
	if r := requestOf(ctx); r != nil {
		return templ.SafeURL(r.frame.URL(path))
	}
	return templ.SafeURL(path)
}

// isOurs tells whether a browser takes path for a path of this very server.
func isOurs(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return false
	}
	return !strings.ContainsFunc(path, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
}

// lowerFirst is s for the middle of a sentence.
func lowerFirst(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	second, _ := utf8.DecodeRuneInString(s[n:])
	if unicode.IsUpper(second) {
		return s // an abbreviation
	}
	return string(unicode.ToLower(first)) + s[n:]
}
