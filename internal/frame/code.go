package frame

import (
	"context"
	"html"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// longPiece is how many characters of code fit beside each other on a phone of 320 px,
// wherever they stand.
const longPiece = 24

// codeOf writes a code in an element of a class.
func codeOf(class, s string) templ.Component {
	open := `<code class="` + class + `">`
	if hasLongPiece(s) {
		open = `<code class="` + class + ` code-scroll" tabindex="0">`
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, open+withBreaks(s, marks+"-")+"</code>")
		return err
	})
}

// pieces writes a text with what it may contain: an address or a domain, which wraps at
// its punctuation, and a [Moment].
func pieces(s string) templ.Component {
	var b strings.Builder
	done := 0
	for _, at := range moments.FindAllStringIndex(s, -1) {
		t, err := time.Parse(momentLayout, s[at[0]:at[1]])
		if err != nil {
			continue
		}
		b.WriteString(withBreaks(s[done:at[0]], marks) + timeElement(t))
		done = at[1]
	}
	b.WriteString(withBreaks(s[done:], marks))
	return templ.Raw(b.String())
}

// inlineCode is a code inside a sentence, or the beginning of a block of code.
var inlineCode = regexp.MustCompile(`(<pre[^>]*>)?<code>([^<]*)</code>`)

// codesIn writes the HTML of a manual, in which codes wrap like those of [Mono].
func codesIn(manual string) templ.Component {
	return templ.Raw(inlineCode.ReplaceAllStringFunc(manual, func(code string) string {
		part := inlineCode.FindStringSubmatch(code)
		if part[1] != "" {
			return code
		}
		return "<code>" + withBreaks(html.UnescapeString(part[2]), marks+"-") + "</code>"
	}))
}

// marks are what a text may wrap behind. A code also wraps behind a hyphen, even before a
// digit, where browsers don't wrap.
const marks = "/._:@?&=,;+"

// withBreaks returns the HTML of a text with a place to wrap behind each of the marks.
func withBreaks(s, marks string) string {
	all := codePieces(s, marks)
	for i := range all {
		all[i] = templ.EscapeString(all[i])
	}
	return strings.Join(all, "<wbr>")
}

// codePieces cuts a text behind marks, where a reader still sees that it goes on.
func codePieces(s, marks string) []string {
	var all []string
	begin := 0
	for i := range s {
		if i > begin && endsPiece(s[begin:i], marks) && isWordStart(s[i:]) {
			all, begin = append(all, s[begin:i]), i
		}
	}
	return append(all, s[begin:])
}

// endsPiece reports whether a code may wrap behind what stands here. A flag keeps its
// hyphens, and the name of a hidden file its dot.
func endsPiece(s, marks string) bool {
	last := len(s) - 1
	if strings.IndexByte(marks, s[last]) < 0 {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:last])
	return s[last] == '/' || unicode.IsLetter(before) || unicode.IsDigit(before) || strings.ContainsRune(`"}])`, before)
}

func isWordStart(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("{<\"'", r)
}

// hasLongPiece reports whether a piece of a code may be wider than a phone.
func hasLongPiece(s string) bool {
	for _, piece := range codePieces(s, marks+"-") {
		for _, word := range strings.Fields(piece) {
			if utf8.RuneCountInString(word) > longPiece {
				return true
			}
		}
	}
	return false
}
