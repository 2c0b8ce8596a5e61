package store

import (
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
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
		{"nothing is", func(t *testing.T, at dbtest.DB) { prepared(t, at) }, "key", health.OK, "belongs"},
		{"nothing was set up", func(*testing.T, dbtest.DB) {}, "tables", health.Warn, "tables do not exist yet"},
		{"the tables are older", func(t *testing.T, at dbtest.DB) { migrate(t, at, peopledb.Schema) }, "tables", health.Fail, "countersign store migrate up"},
		{"the key file is gone", func(t *testing.T, at dbtest.DB) {
			prepared(t, at)
			remove(t, keyFile(at))
		}, "key", health.Fail, "rekey"},
		{"the key file is another's", func(t *testing.T, at dbtest.DB) {
			prepared(t, at)
			remove(t, keyFile(at))
			if _, err := keyfile.Create(at.Dir); err != nil {
				t.Fatal(err)
			}
		}, "key", health.Fail, "replace it with that one"},
		{"items have no pictures", func(t *testing.T, at dbtest.DB) {
			pictureless(t, at, `"media":{"thumbnail":"https://cdn.example/t.png"}`)
		}, "item pictures", health.Warn, "1 item has no thumbnail or preview image: Item 7 (ada)"},
		{"an audio item needs no preview image", func(t *testing.T, at dbtest.DB) {
			pictureless(t, at, `"kind":"audio"`, `"media":{"thumbnail":"https://cdn.example/t.png"}`)
		}, "item pictures", health.OK, "has its pictures"},
		{"the key file is open to all", func(t *testing.T, at dbtest.DB) {
			prepared(t, at)
			if err := os.Chmod(keyFile(at), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "key file", health.Fail, "chmod 600"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at := dbtest.New(t, dbtest.Either(t))
			if err := os.Chmod(at.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, at)
			findings := opened(t, optionsOf(at, newClock())).Doctor(t.Context())
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
	prepared(t, at).mustImport(t, lines(workspaceText("ada"), itemText("ada", 7, members...)))
}
