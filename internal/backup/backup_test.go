package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

var operator = people.Operator("tester")

// template is a store with sample data and an uploaded file.
var template = dbtest.NewTemplate(func(db dbtest.DB) error {
	ctx := context.Background()
	s, err := store.Open(ctx, options(db))
	if err != nil {
		return err
	}
	err = s.Prepare(ctx)
	if err == nil {
		_, err = s.CreateWorkspace(ctx, operator, store.NewWorkspace{Username: "maker"})
	}
	if err == nil {
		_, err = s.Transfer.LoadSample(ctx, operator, "maker")
	}
	if err == nil {
		_, err = s.Media.Bucket().Write(ctx, "public/picture.png", strings.NewReader("a picture"))
	}
	return errors.Join(err, s.Close())
})

func options(db dbtest.DB) store.Options {
	return store.Options{Dir: db.Dir, URL: db.URL, Now: func() time.Time { return noon }}
}

// place is a store of a test and its backups.
type place struct {
	db      dbtest.DB
	backups *backup.Service
}

func at(t testing.TB, db dbtest.DB) place {
	t.Helper()
	s, err := store.Backups(t.Context(), options(db))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Media.Close() })
	return place{db, s}
}

// create makes a backup with the store's own command.
func (p place) create(t testing.TB, o backup.CreateOptions) backup.Created {
	t.Helper()
	made, err := storetest.Open(t, p.db, options(p.db)).CreateBackup(t.Context(), operator, o)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (p place) restore(t testing.TB, file string) backup.Restored {
	t.Helper()
	done, err := p.backups.Restore(t.Context(), backup.Source{File: file})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// content is everything in a database, as text: the export, and the counts and sums of all tables
// but those that a test's own commands write.
func (p place) content(t testing.TB) string {
	t.Helper()
	o := p.backups.Database
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var text strings.Builder
	err = db.Content(t.Context(), t.TempDir(), func(c *sqldb.Content) error {
		fmt.Fprintln(&text, c.Versions)
		for _, table := range c.Tables {
			rows := 0
			if err := c.Rows(t.Context(), table, func(values []any) error {
				if table.Name == "meta" && values[0] == "commits" {
					return nil
				}
				rows++
				if rows <= 5 && len(table.Columns) > 0 && table.Name == "workspaces" {
					fmt.Fprintf(&text, "%v\n", values)
				}
				return nil
			}); err != nil {
				return err
			}
			fmt.Fprintln(&text, table.Name, rows)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func export(t testing.TB, db dbtest.DB) string {
	t.Helper()
	var to bytes.Buffer
	s, err := store.Open(t.Context(), options(db))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Transfer.Export(t.Context(), operator, &to, ""); err != nil {
		t.Fatal(err)
	}
	return to.String()
}

func wantCode(t testing.TB, err error, kind countersign.Kind, code string) {
	t.Helper()
	if !fault.HasCode(err, code) || !fault.HasKind(err, kind) {
		t.Errorf("error %v, want %s", err, code)
	}
}

func TestABackupOfEitherEngineIsRestoredIntoEither(t *testing.T) {
	t.Parallel()
	for _, from := range []string{dbtest.SQLite, dbtest.Postgres} {
		for _, to := range []string{dbtest.SQLite, dbtest.Postgres} {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				source := at(t, template.New(t, from))
				made := source.create(t, backup.CreateOptions{KeyFile: true})
				target := at(t, dbtest.New(t, to))
				done := target.restore(t, made.File)
				if !done.KeyFile || done.Before != "" || done.Older {
					t.Errorf("restored %+v", done)
				}
				if got, want := export(t, target.db), export(t, source.db); got != want || len(want) < 1000 {
					t.Errorf("the export differs: %d bytes, want %d", len(got), len(want))
				}
				again := target.create(t, backup.CreateOptions{KeyFile: true})
				for table, sum := range made.Info.Manifest.Tables {
					if got := again.Info.Manifest.Tables[table]; got != sum && table != "audit" && table != "meta" && table != "changes" {
						t.Errorf("%s: %d rows with another sum, want %d", table, got.Count, sum.Count)
					}
				}
				picture, err := os.ReadFile(filepath.Join(target.db.Dir, "media", "public", "picture.png"))
				if err != nil || string(picture) != "a picture" {
					t.Errorf("picture %q, %v", picture, err)
				}
			})
		}
	}
}

func TestABackupIsPrivateAndNamedByItsTime(t *testing.T) {
	p := at(t, template.New(t, dbtest.SQLite))
	first, second := p.create(t, backup.CreateOptions{}), p.create(t, backup.CreateOptions{})
	for made, want := range map[string]string{first.File: "store-20261101T120000Z.backup", second.File: "store-20261101T120000Z.2.backup"} {
		info, err := os.Stat(made)
		if err != nil || info.Mode().Perm() != 0o600 || filepath.Base(made) != want {
			t.Errorf("%s: mode %v, %v, want %s", made, info.Mode(), err, want)
		}
	}
	entries, err := os.ReadDir(p.backups.Folder())
	if err != nil || len(entries) != 3 { // and the lock
		t.Errorf("%v, %v", entries, err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		p := at(t, db)
		made := p.create(t, backup.CreateOptions{})
		info, err := p.backups.Verify(t.Context(), backup.Source{File: made.File})
		if err != nil || info.Rows() != made.Info.Rows() || info.Rows() == 0 {
			t.Errorf("%d rows, %v, want %d", info.Rows(), err, made.Info.Rows())
		}
		text, err := os.ReadFile(made.File)
		if err != nil {
			t.Fatal(err)
		}
		damaged := filepath.Join(db.Dir, "damaged.backup")
		for _, c := range []struct {
			name    string
			content []byte
		}{
			{"empty", nil},
			{"cut in the middle", text[:len(text)/2]},
			{"without its last byte", text[:len(text)-1]},
			{"with a byte more", append(bytes.Clone(text), 0)},
			{"with a changed byte", flipped(text, len(text)/2)},
			{"twice", append(bytes.Clone(text), text...)},
		} {
			if err := os.WriteFile(damaged, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := p.backups.Verify(t.Context(), backup.Source{File: damaged})
			t.Run(c.name, func(t *testing.T) { wantCode(t, err, countersign.KindInvalid, backup.CodeDamaged) })
		}
	})
}

func flipped(text []byte, i int) []byte {
	changed := bytes.Clone(text)
	changed[i] ^= 0x10
	return changed
}

func TestRestoreBacksUpFirstAndTheBackupUndoesIt(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		p := at(t, db)
		made := p.create(t, backup.CreateOptions{})
		changed := options(db)
		s, err := store.Open(t.Context(), changed)
		if err == nil {
			err = s.Prepare(t.Context())
		}
		if err == nil {
			_, err = s.CreateWorkspace(t.Context(), operator, store.NewWorkspace{Username: "later"})
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		later := export(t, db)
		p.closed(t)
		done := p.restore(t, made.File)
		if got := export(t, db); strings.Contains(got, "later") {
			t.Error("the restored store has what was added after the backup")
		}
		p.restore(t, done.Before)
		if got := export(t, db); got != later {
			t.Error("the backup before the restore did not bring back what was there")
		}
	})
}

func TestRestoreNeedsTheKeyFileOfTheBackup(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		source := at(t, db)
		made := source.create(t, backup.CreateOptions{})
		target := at(t, dbtest.New(t, db.Engine))
		_, err := target.backups.Restore(t.Context(), backup.Source{File: made.File})
		wantCode(t, err, countersign.KindConflict, backup.CodeKeyFile)
		if _, err := keyfile.Create(target.db.Dir); err != nil {
			t.Fatal(err)
		}
		_, err = target.backups.Restore(t.Context(), backup.Source{File: made.File})
		wantCode(t, err, countersign.KindConflict, backup.CodeKeyFile)
		copyFile(t, filepath.Join(db.Dir, keyfile.FileName), filepath.Join(target.db.Dir, keyfile.FileName))
		target.restore(t, made.File)
		if got, want := export(t, target.db), export(t, db); got != want {
			t.Error("the store beside its lone key file has other content")
		}
	})
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// closed makes sure that nothing has the database open, as a restore needs it.
func (p place) closed(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(p.backups.Database.Path + "-shm"); p.db.Engine == dbtest.SQLite && err == nil {
		t.Log("the database is still open")
	}
}

var _ = io.Discard
