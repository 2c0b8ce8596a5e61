package store_test

import (
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestDoctorNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		spoil func(t *testing.T, at dbtest.DB)
		check string
		level health.Level
		says  string
	}{
		{"nothing is", func(t *testing.T, at dbtest.DB) { storetest.Prepared(t, at) }, "key", health.OK, "belongs"},
		{"nothing was set up", func(*testing.T, dbtest.DB) {}, "tables", health.Warn, "tables do not exist yet"},
		{"the tables are older", func(t *testing.T, at dbtest.DB) { migrate(t, at, peopledb.Schema) }, "tables", health.Fail, "countersign store migrate up"},
		{"the key file is gone", func(t *testing.T, at dbtest.DB) {
			storetest.Prepared(t, at)
			remove(t, keyFile(at))
		}, "key", health.Fail, "rekey"},
		{"the key file is another's", func(t *testing.T, at dbtest.DB) {
			storetest.Prepared(t, at)
			remove(t, keyFile(at))
			must.Get(keyfile.Create(at.Dir))(t)
		}, "key", health.Fail, "replace it with that one"},
		{"nobody is an administrator", func(t *testing.T, at dbtest.DB) { storetest.Prepared(t, at) }, "administrator", health.Warn, "No administrator yet"},
		{"items have no pictures", func(t *testing.T, at dbtest.DB) {
			pictureless(t, at, `"media":{"thumbnail":"https://cdn.example/t.png"}`)
		}, "item pictures", health.Warn, "1 item has no thumbnail or preview image: Item 7 (ada)"},
		{"an audio item needs no preview image", func(t *testing.T, at dbtest.DB) {
			pictureless(t, at, `"kind":"audio"`, `"media":{"thumbnail":"https://cdn.example/t.png"}`)
		}, "item pictures", health.OK, "has its pictures"},
		{"the key file is open to all", func(t *testing.T, at dbtest.DB) {
			storetest.Prepared(t, at)
			must.Do(t, os.Chmod(keyFile(at), 0o644))
		}, "key file", health.Fail, "chmod 600"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at := dbtest.New(t, dbtest.Either(t))
			must.Do(t, os.Chmod(at.Dir, 0o700))
			c.spoil(t, at)
			findings := storetest.Unprepared(t, at).Doctor(t.Context())
			for _, f := range findings {
				if f.Name == c.check {
					if f.Level != c.level || !strings.Contains(f.What+f.Why+f.Fix, c.says) {
						t.Errorf("%+v, want %s and %q", f, c.level, c.says)
					}
					return
				}
			}
			t.Errorf("nothing about %s: %+v", c.check, findings)
		})
	}
}

// pictureless makes a store with item 7, which has these members.
func pictureless(t *testing.T, at dbtest.DB, members ...string) {
	t.Helper()
	storetest.Prepared(t, at).MustImport(t, storetest.Lines(storetest.WorkspaceText("ada"), storetest.ItemText("ada", 7, members...)))
}

func TestAnImportCountsWhatIsEasyToGuess(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := []string{
			storetest.PurchaseText("ada", 1, "493021"), storetest.PurchaseText("ada", 1, "14ba71e7-b9d4-47b1-933b-ae2f77bb5115"),
			storetest.PurchaseText("ada", 1, "12345678901234567890"), storetest.KeyText("ada", "short", `"key":"short-key"`),
			storetest.KeyText("ada", "long", `"key":"`+strings.Repeat("0123456789abcdef", 2)+`"`), storetest.KeyText("ada", "new"),
			storetest.KeyText("ada", "ours", `"key":"`+sample.SecretKey("ours")+`"`),
		}
		report := f.MustImport(t, storetest.Lines(file...))
		if w := report.WeakCodes; w.Count != 2 || w.LeastBits != 20 || len(w.Lines) != 2 || w.Lines[0] != 1 || w.Lines[1] != 3 {
			t.Errorf("codes: %+v", w)
		}
		if w := report.WeakKeys; w.Count != 1 || len(w.Lines) != 1 || w.Lines[0] != 4 {
			t.Errorf("keys: %+v", w)
		}
		var many []string
		for i := range 20 {
			many = append(many, storetest.PurchaseText("bob", 3, "short-"+storetest.Text(i)))
		}
		if w := f.MustImport(t, storetest.Lines(many...)).WeakCodes; w.Count != 20 || len(w.Lines) != 5 {
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
		{"a code of six digits", storetest.PurchaseText("ada", 1, "493021"), "purchase codes", health.Warn, "Of 1 purchase codes, 1 can be guessed"},
		{"a UUID", storetest.PurchaseText("ada", 1, "14ba71e7-b9d4-47b1-933b-ae2f77bb5115"), "purchase codes", health.OK, ""},
		{"no code", storetest.WorkspaceText("eve"), "purchase codes", health.OK, ""},
		{"a short imported key", storetest.KeyText("ada", "old", `"key":"short-key"`), "imported keys", health.Warn, "ada/old"},
		{"a short key that was revoked", storetest.KeyText("ada", "old", `"key":"short-key"`, `"revoked_at":"2026-01-01T00:00:00Z"`), "imported keys", health.OK, ""},
		{"a long one", storetest.KeyText("ada", "old", `"key":"`+strings.Repeat("0123456789abcdef", 2)+`"`), "imported keys", health.OK, ""},
		{"one of ours", storetest.KeyText("ada", "web"), "imported keys", health.OK, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			at := storetest.TwoShopsStore.New(t, dbtest.Either(t))
			f := storetest.Prepared(t, at)
			f.MustImport(t, storetest.Lines(c.line))
			for _, found := range storetest.Unprepared(t, at).Doctor(t.Context()) {
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
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.KeyText("bob", "unopenable", `"key":"`+strings.Repeat("0123456789abcdef", 2)+`"`)))
		age(t, f)
		g := f.Unprepared(t)
		must.Do(t, g.PrepareToServe(t.Context()))
		for _, found := range g.Doctor(t.Context()) {
			if found.Name == "imported keys" && (found.Level != health.Warn || !strings.Contains(found.What, "bob/unopenable")) {
				t.Errorf("%+v", found)
			}
		}
	})
}
