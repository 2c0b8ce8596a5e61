package store

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/store/sample"
)

func TestAnImportCountsWhatIsEasyToGuess(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		file := []string{
			purchaseText("ada", 1, "493021"), purchaseText("ada", 1, "14ba71e7-b9d4-47b1-933b-ae2f77bb5115"),
			purchaseText("ada", 1, "12345678901234567890"), keyText("ada", "short", `"key":"short-key"`),
			keyText("ada", "long", `"key":"`+strings.Repeat("0123456789abcdef", 2)+`"`), keyText("ada", "new"),
			keyText("ada", "ours", `"key":"`+sample.SecretKey("ours")+`"`),
		}
		report := f.mustImport(t, lines(file...))
		if w := report.WeakCodes; w.Count != 2 || w.LeastBits != 20 || len(w.Lines) != 2 || w.Lines[0] != 1 || w.Lines[1] != 3 {
			t.Errorf("codes: %+v", w)
		}
		if w := report.WeakKeys; w.Count != 1 || len(w.Lines) != 1 || w.Lines[0] != 4 {
			t.Errorf("keys: %+v", w)
		}
		var many []string
		for i := range 20 {
			many = append(many, purchaseText("bob", 3, "short-"+text(i)))
		}
		if w := f.mustImport(t, lines(many...)).WeakCodes; w.Count != 20 || len(w.Lines) != 5 {
			t.Errorf("many codes: %+v", w)
		}
	})
}

func TestDoctorWarnsOfWhatIsEasyToGuess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, line, check string
		level             health.Level
		says              string
	}{
		{"a code of six digits", purchaseText("ada", 1, "493021"), "purchase codes", health.Warn, "Of 1 purchase codes, 1 can be guessed"},
		{"a UUID", purchaseText("ada", 1, "14ba71e7-b9d4-47b1-933b-ae2f77bb5115"), "purchase codes", health.OK, ""},
		{"no code", workspaceText("eve"), "purchase codes", health.OK, ""},
		{"a short imported key", keyText("ada", "old", `"key":"short-key"`), "imported keys", health.Warn, "ada/old"},
		{"a short key that was revoked", keyText("ada", "old", `"key":"short-key"`, `"revoked_at":"2026-01-01T00:00:00Z"`), "imported keys", health.OK, ""},
		{"a long one", keyText("ada", "old", `"key":"`+strings.Repeat("0123456789abcdef", 2)+`"`), "imported keys", health.OK, ""},
		{"one of ours", keyText("ada", "web"), "imported keys", health.OK, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			at := twoShopsStore.New(t, dbtest.Either(t))
			f := prepared(t, at)
			f.mustImport(t, lines(c.line))
			for _, found := range opened(t, optionsOf(at, newClock())).Doctor(t.Context()) {
				if found.Name != c.check {
					continue
				}
				if found.Level != c.level || !strings.Contains(found.What, c.says) {
					t.Errorf("%+v", found)
				}
				if strings.Contains(found.What+found.Why+found.Fix, "493021") || strings.Contains(found.What, "short-key") {
					t.Errorf("it shows the secret: %+v", found)
				}
				return
			}
			t.Error("nothing is said of " + c.check)
		})
	}
}

func TestDoctorWarnsOfAnImportedKeyThatCantBeOpened(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(keyText("bob", "unopenable", `"key":"`+strings.Repeat("0123456789abcdef", 2)+`"`)))
		f.age(t)
		g := opened(t, optionsOf(f.at, f.clock))
		if err := g.PrepareToServe(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, found := range g.Doctor(t.Context()) {
			if found.Name == "imported keys" && (found.Level != health.Warn || !strings.Contains(found.What, "bob/unopenable")) {
				t.Errorf("%+v", found)
			}
		}
	})
}
