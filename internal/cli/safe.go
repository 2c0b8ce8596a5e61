package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe makes text from outside fit for one line of a terminal: what could move
// the cursor, give orders to the terminal or turn the direction of reading is
// written out as JSON and Go would, like \u001b.
func Safe(text string) string {
	if !strings.ContainsFunc(text, harmful) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !harmful(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// harmful reports control characters, separators of lines, and formatting
// characters but for the two that join letters and emoji.
func harmful(r rune) bool {
	const joiner, nonJoiner = '\u200d', '\u200c'
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unicode.Cf, r) && r != joiner && r != nonJoiner
}

// SafeJSON escapes in JSON text what encoders leave as it is and terminals obey:
// DEL and the C1 control characters. The text means the same as before.
func SafeJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, unescaped) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for _, r := range string(text) {
		if unescaped(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// safeText is Safe for several lines.
func safeText(text []byte) []byte {
	var out []byte
	for line := range strings.Lines(string(text)) {
		out = append(out, Safe(strings.TrimSuffix(line, "\n"))+"\n"...)
	}
	return out
}

func unescaped(r rune) bool { return 0x7f <= r && r <= 0x9f }

// Lines returns stdout for lines of text. On a terminal they are made safe: lines of JSON stay JSON.
func (t *Console) Lines(isJSON bool) io.Writer {
	switch {
	case !t.Out.IsTerminal():
		return t.Out
	case isJSON:
		return &safeLines{to: t.Out, by: SafeJSON}
	}
	return &safeLines{to: t.Out, by: safeText}
}

// safeLines passes lines on to a terminal by way of a function: SafeJSON, or
// safeText for what is not JSON.
type safeLines struct {
	to   io.Writer
	by   func([]byte) []byte
	line []byte
}

// Write implements io.Writer. What follows the last line end waits for the next.
func (s *safeLines) Write(p []byte) (int, error) {
	end := bytes.LastIndexByte(p, '\n') + 1
	s.line = append(s.line, p[:end]...)
	if end > 0 {
		if _, err := s.to.Write(s.by(s.line)); err != nil {
			return 0, err
		}
		s.line = s.line[:0]
	}
	s.line = append(s.line, p[end:]...)
	return len(p), nil
}
