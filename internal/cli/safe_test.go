package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSafeText(t *testing.T) {
	for name, tt := range map[string][2]string{
		"plain text stays":                   {"Rain Loop – Ünïcode 雨 👩‍💻", "Rain Loop – Ünïcode 雨 👩‍💻"},
		"orders to the terminal":             {"a\x1b[31mb\x07", `a\u001b[31mb\u0007`},
		"the C1 order introducer":            {"a\u009b31m", `a\u009b31m`},
		"lines and tabs would break a table": {"a\nb\tc", `a\nb\tc`},
		"line separators":                    {"a\u2028b", `a\u2028b`},
		"text that turns the reading round":  {"a\u202eb", `a\u202eb`},
		"bytes that are no UTF-8":            {"a\xffb", `a\xffb`},
		"the replacement character itself":   {"a\ufffdb", "a\ufffdb"},
		"tags beyond the basic plane":        {"a\U000e0041b", `a\U000e0041b`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Safe(tt[0]); got != tt[1] {
				t.Errorf("Safe(%q) = %q, want %q", tt[0], got, tt[1])
			}
		})
	}
}

func TestSafeJSONMeansTheSame(t *testing.T) {
	const value = "a\u009b\u007f\u0085 é 👩‍💻"
	text := SafeJSON([]byte(`{"name":"` + value + `"}`))
	if strings.ContainsFunc(string(text), unescaped) {
		t.Errorf("%q would reach a terminal", text)
	}
	var back struct{ Name string }
	if err := json.Unmarshal(text, &back); err != nil || back.Name != value {
		t.Errorf("reads back as %q, %v", back.Name, err)
	}
}

func TestSafeLinesDoesNotSplitCharacters(t *testing.T) {
	const lines = "{\"a\":\"\u009b\"}\n{\"b\":\"é\"}\n"
	var out strings.Builder
	w := &safeLines{to: &out, by: SafeJSON}
	for i := range len(lines) {
		if n, err := w.Write([]byte{lines[i]}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := `{"a":"\u009b"}` + "\n" + `{"b":"é"}` + "\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
