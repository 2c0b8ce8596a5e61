package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/wording"
)

// Count is a number with its noun.
func Count(n int, noun string) string {
	return wording.Count(int64(n), noun, noun+"s")
}

// momentLayout is how a moment is written in UTC.
const momentLayout = "2 Jan 2006, 15:04 UTC"

// Moment is a time inside a sentence, in UTC. Where the frame shows the sentence, it
// becomes an element like that of [Time], so that a page has one clock.
func Moment(t time.Time) string { return t.UTC().Format(momentLayout) }

var moments = regexp.MustCompile(`\b\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d UTC\b`)

// timeElement is the HTML of a moment. Its title has the seconds.
func timeElement(t time.Time) string {
	return `<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` + t.UTC().Format("2 Jan 2006, 15:04:05 UTC") + `">` + Moment(t) + "</time>"
}

// Sentence ends a text with a full stop, where it has no end yet.
func Sentence(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".?!:") {
		return text
	}
	return text + "."
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

// Thousands is a number as people read it: 1,234.
func Thousands(n int64) string { return wording.Thousands(n) }

// Span returns which part of a list is shown: "Entries 101–150 of 1,240".
func Span(noun string, first, last, all int64) string {
	if last < first {
		return ""
	}
	return fmt.Sprintf("%s %s–%s of %s", noun, Thousands(first), Thousands(last), Thousands(all))
}

// Indented is JSON as people read it.
func Indented(text []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return string(text)
	}
	return b.String()
}

// YesNo is the answer to a question in a list of facts.
func YesNo(yes bool) string {
	if yes {
		return "Yes"
	}
	return "No"
}
