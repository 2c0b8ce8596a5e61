package config

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

// Write writes a configuration file: the head as a comment, then each setting with a line that
// explains it. A setting whose flag was given is set; the others are comments with their defaults.
// The name of a file or folder in a flag starts at the current folder, so it is written in full;
// open returns where it leads.
func Write(to io.Writer, head string, all []Setting, open func(path string) string) error {
	var b strings.Builder
	for line := range strings.Lines(head) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	for _, s := range all {
		value, err := s.toml(open)
		if err != nil {
			return err
		}
		_, usage := pflag.UnquoteUsage(s.Flag)
		fmt.Fprintf(&b, "\n# %s\n", usage)
		if !s.Flag.Changed {
			b.WriteString("#")
		}
		fmt.Fprintf(&b, "%s = %s\n", s.Key, value)
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// toml is the value as a file has it.
func (s Setting) toml(open func(path string) string) (string, error) {
	switch v := s.Value().(type) {
	case []string:
		quoted := make([]string, len(v))
		for i, text := range v {
			quoted[i] = quote(text)
		}
		return "[" + strings.Join(quoted, ", ") + "]", nil
	case string:
		if s.Flag.Changed && s.isPath() {
			absolute, err := filepath.Abs(open(v))
			if err != nil {
				return "", fmt.Errorf("--%s: find the current folder: %w", s.Flag.Name, err)
			}
			v = absolute
		}
		return quote(v), nil
	default:
		return fmt.Sprint(v), nil
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
