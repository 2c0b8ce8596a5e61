package people

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
)

func FuzzFoldEmail(f *testing.F) {
	for _, text := range []string{email, " Ada@Site.EXAMPLE\n", "a@b@c", "@", "ada\x00@site.example", "İ@K.example", "\xff@\xfe"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		folded, err := CleanEmail(text)
		if err != nil {
			return
		}
		if again, err := CleanEmail(folded); err != nil || again != folded {
			t.Errorf("%q folds to %q, and that to %q, %v", text, folded, again, err)
		}
		if !utf8.ValidString(folded) || strings.ContainsAny(folded, "\x00 \t\n") || len(folded) > maxEmail {
			t.Errorf("%q folds to %q, which not every engine can keep", text, folded)
		}
	})
}

func FuzzAgent(f *testing.F) {
	f.Add("Mozilla/5.0 (X11; Linux)")
	f.Add("a\x00\xff\u2028b")
	f.Fuzz(func(t *testing.T, text string) {
		if got := (Origin{Agent: text}).agent(); !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\r\n") || utf8.RuneCountInString(got) > maxAgent {
			t.Errorf("%q is kept as %q", text, got)
		}
	})
}

func FuzzKnownBrowser(f *testing.F) {
	box := must.Get(keyfile.Create(f.TempDir()))(f)
	good := knownBrowser{1, 2, 1 << 40, "AAAA"}.signed(box)
	for _, text := range []string{good, good + "~" + good, "", ".", "....", "1.2.3.A.", strings.Replace(good, "1.", "2.", 1), "\xff.\x00"} {
		f.Add(text)
	}
	p := &People{box: func() *keyfile.Box { return box }, now: func() time.Time { return time.Unix(0, 0) }}
	f.Fuzz(func(t *testing.T, text string) {
		for _, k := range p.knownTo(box, text) {
			if k != (knownBrowser{1, 2, 1 << 40, "AAAA"}) {
				t.Errorf("%q is taken for %+v", text, k)
			}
		}
	})
}
