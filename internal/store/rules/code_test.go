package rules

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
)

func TestCleanCode(t *testing.T) {
	cases := []struct {
		name, text, want string
		ok               bool
	}{
		{"a UUID stays as it is", "7c0f3b1e-9a5d-4c55-8f0e-2f6a7b8c9d0e", "7c0f3b1e-9a5d-4c55-8f0e-2f6a7b8c9d0e", true},
		{"the letters' case stays", "AbC-123", "AbC-123", true},
		{"spaces around it go", " \t\r\n abc \v\f", "abc", true},
		{"spaces of other alphabets around it go", "\u00a0abc\u2003", "abc", true},
		{"a space inside stays", "ab c", "ab c", true},
		{"the First and last printable character count", "!~", "!~", true},
		{"one character is enough", "x", "x", true},
		{"128 characters are a code", strings.Repeat("x", 128), strings.Repeat("x", 128), true},
		{"128 characters and spaces around them are", " " + strings.Repeat("x", 128) + " ", strings.Repeat("x", 128), true},
		{"129 are not", strings.Repeat("x", 129), "", false},
		{"nothing is not", "", "", false},
		{"spaces alone are not", "  \n ", "", false},
		{"NUL is not", "ab\x00c", "", false},
		{"a control character inside is not", "ab\tc", "", false},
		{"DEL is not", "ab\x7fc", "", false},
		{"a letter beyond ASCII is not", "abé", "", false},
		{"a look-alike letter is not", "аbc", "", false},
		{"invalid UTF-8 is not", "ab\xff", "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := CleanCode(c.text)
			if got != c.want || ok != c.ok {
				t.Errorf("%q, %t; want %q, %t", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestWhatIsWrongWithACodeIsNamed(t *testing.T) {
	const form = "a purchase code is 1 to 128 printable ASCII characters"
	cases := []struct{ text, code, want string }{
		{" \u200babc-1\ufeff\u00a0", "abc-1", ""},
		{"\u2011abc-1\u2013", "abc-1", ""},
		{"\u00ad\u2060abc\u200e", "abc", ""},
		{"1.00001E+11", "", "a spreadsheet has changed this code to 1.00001E+11; format the column as text"},
		{"1,5e+9", "", "a spreadsheet has changed this code to 1,5e+9; format the column as text"},
		{"1E5", "1E5", ""},
		{"A1.5E+11", "A1.5E+11", ""},
		{"abc\u2013000", "", form + `; this one contains a typographic hyphen or dash "–" (U+2013)`},
		{"\u201cabc\u201d", "", form + `; this one contains a typographic quotation mark "“" (U+201C)`},
		{"ab\u200bc", "", form + "; this one contains an invisible character or space (U+200B)"},
		{"ab\u00a0c", "", form + "; this one contains an invisible character or space (U+00A0)"},
		{"ab\x00c", "", form + "; this one contains a control character (U+0000)"},
		{"ab\nc", "", form + "; this one contains an invisible character or space (U+000A)"},
		{"caf\u00e9", "", form + `; this one contains the character "é" (U+00E9)`},
		{"ab\xff", "", form + "; this one contains a character that can't be read"},
		{" \u200b ", "", form},
		{strings.Repeat("x", 129), "", form},
	}
	for _, c := range cases {
		got, err := CheckCode(c.text)
		said := ""
		if err != nil {
			said = fault.Message(err)
		}
		if got != c.code || said != c.want {
			t.Errorf("%q: %q, %v, want %q, %s", c.text, got, err, c.code, c.want)
		}
	}
}

func TestFoldCode(t *testing.T) {
	cases := []struct{ name, code, want string }{
		{"lower case stays", "abc-123", "abc-123"},
		{"upper case is lowered", "ABC-xYz", "abc-xyz"},
		{"the neighbours of the letters stay", "@[`{", "@[`{"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, FoldCode(c.code), c.want)
		})
	}
}

func FuzzCleanCode(f *testing.F) {
	for _, code := range []string{"", " a ", "ABC", "é", "\u212a", strings.Repeat("x", 129), "\x00", "\xff"} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, ok := CleanCode(text)
		if !ok {
			expect.Equalf(t, code, "", "refused, but left")
			return
		}
		if len(code) < 1 || len(code) > 128 || !strings.Contains(text, code) || strings.TrimSpace(code) != code {
			t.Errorf("%q became %q", text, code)
		}
		if again, ok := CleanCode(code); !ok || again != code {
			t.Errorf("%q became %q when it was cleaned again", code, again)
		}
		folded := FoldCode(code)
		if !strings.EqualFold(folded, code) || FoldCode(folded) != folded || len(folded) != len(code) {
			t.Errorf("%q folded to %q", code, folded)
		}
	})
}
