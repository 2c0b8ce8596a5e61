package spreadsheet

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestACellIsNeverAFormula(t *testing.T) {
	for text, want := range map[string]string{
		"":              "",
		"plain – 雨":     "plain – 雨",
		"=cmd()":        "'=cmd()",
		"+1":            "'+1",
		"-1":            "'-1",
		"@a":            "'@a",
		"＝cmd()":        "'＝cmd()",
		"a;=b":          "a;'=b",
		"a,=b":          "a,'=b",
		"a|=b":          "a|'=b",
		"a;\"=b":        "a;\"'=b",
		"a\n=b":         "a\n'=b",
		"\ta":           "'\ta",
		"a=b":           "a=b",
		"2026-11-21":    "2026-11-21",
		"ada@x.example": "ada@x.example",
	} {
		expect.Equalf(t, Cell(text), want, "%q", text)
	}
}

func TestACellComesBackAsItsText(t *testing.T) {
	for _, text := range []string{"", "plain", "=cmd()", "-1", "@a", "＝cmd()", "a;=b", "a,=b", "a|\"=b", "a;\"=b", "a\n=b", "\ta", "a=b", "it's", "'quoted'", "'", "''"} {
		if got := Uncell(Cell(text)); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
	}
}
