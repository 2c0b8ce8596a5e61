package config

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// Write writes a configuration file: the head as a comment, then each setting with a line that
// explains it. A setting whose flag was given is set; the others are comments with their defaults.
func Write(to io.Writer, head string, all []Setting) error {
	var b strings.Builder
	for line := range strings.Lines(head) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	for _, s := range all {
		_, usage := pflag.UnquoteUsage(s.Flag)
		fmt.Fprintf(&b, "\n# %s\n", usage)
		if !s.Flag.Changed {
			b.WriteString("#")
		}
		fmt.Fprintf(&b, "%s = %s\n", s.Key, s.toml())
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// toml is the value as a file has it.
func (s Setting) toml() string {
	switch v := s.Value().(type) {
	case []string:
		quoted := make([]string, len(v))
		for i, text := range v {
			quoted[i] = quote(text)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case string:
		return quote(v)
	default:
		return fmt.Sprint(v)
	}
}

// quote writes a text as a basic string of TOML.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < 0x20 || 0x7f <= r && r <= 0x9f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
