package snippet

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestTextsBecomeLiterals(t *testing.T) {
	cases := []struct{ name, text, shell, php, double, dollar string }{
		{"plain", "a-1", `'a-1'`, `'a-1'`, `"a-1"`, `"a-1"`},
		{"single quotes", "it's", `'it'\''s'`, `'it\'s'`, `"it's"`, `"it's"`},
		{"double quotes", `"x"`, `'"x"'`, `'"x"'`, `"\"x\""`, `"\"x\""`},
		{"a backslash at the end", `x\`, `'x\'`, `'x\\'`, `"x\\"`, `"x\\"`},
		{"a backslash before a quote", `\'`, `'\'\'''`, `'\\\''`, `"\\'"`, `"\\'"`},
		{"interpolation", "$(id) ${x} `y`", "'$(id) ${x} `y`'", "'$(id) ${x} `y`'", "\"$(id) ${x} `y`\"", "\"\\$(id) \\${x} `y`\""},
		{"the end of a script", `?></script>`, `'?></script>'`, `'?></script>'`, `"?></script>"`, `"?></script>"`},
		{"line ends and NUL", "a\nb\r\x00", "'a\uFFFDb\uFFFD\uFFFD'", "'a\uFFFDb\uFFFD\uFFFD'", `"a\u000ab\u000d\u0000"`, `"a\u000ab\u000d\u0000"`},
		{"what turns the direction of text", "a\u202Eb\u2028", "'a\uFFFDb\uFFFD'", "'a\uFFFDb\uFFFD'", `"a\u202eb\u2028"`, `"a\u202eb\u2028"`},
		{"bytes that are not UTF-8", "\xff", "'\uFFFD'", "'\uFFFD'", "\"\uFFFD\"", "\"\uFFFD\""},
		{"beyond 16 bits", "𝄞\U000E0001", "'𝄞\uFFFD'", "'𝄞\uFFFD'", "\"𝄞\uFFFD\"", "\"𝄞\uFFFD\""},
	}
	for _, c := range cases {
		for _, q := range []struct {
			name      string
			got, want string
		}{{"shell", quoteShell(c.text), c.shell}, {"PHP", quotePHP(c.text), c.php}, {"double", quoteDouble("")(c.text), c.double}, {"dollar", quoteDouble("$")(c.text), c.dollar}} {
			expect.Equalf(t, q.got, q.want, "%s, %s", c.name, q.name)
		}
	}
}
