package backup_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
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
		_, err = s.CreateWorkspace(ctx, operator, workspace("maker"))
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
	return store.Options{Options: instance.Options{Dir: db.Dir, URL: db.URL, Now: func() time.Time { return noon }, HashCost: people.TestCost}}
}

func workspace(name string) store.Workspace {
	return store.Workspace{Account: countersign.Account{Username: name, Currency: "EUR"}}
}

// with opens a store for as long as do takes.
func with(t testing.TB, db dbtest.DB, do func(context.Context, *store.Store) error) {
	t.Helper()
	s, err := store.Open(t.Context(), options(db))
	if err == nil {
		if err = s.Prepare(t.Context()); err == nil {
			err = do(t.Context(), s)
		}
		err = errors.Join(err, s.Close())
	}
	must.Do(t, err)
}

// place is a store of a test and its backups.
type place struct {
	db      dbtest.DB
	backups *backup.Service
}

func at(t testing.TB, db dbtest.DB) place {
	t.Helper()
	s := must.Get(store.Backups(options(db)))(t)
	t.Cleanup(func() { _ = s.Media.Close() })
	return place{db, s}
}

// create makes a backup with the store's own command.
func (p place) create(t testing.TB, o backup.CreateOptions) backup.Created {
	t.Helper()
	var made backup.Created
	with(t, p.db, func(ctx context.Context, s *store.Store) (err error) {
		made, err = s.Instance.Backups.Create(ctx, operator, o)
		return err
	})
	return made
}

func (p place) restore(t testing.TB, file string) backup.Restored {
	t.Helper()
	return must.Get(p.backups.Restore(t.Context(), backup.Source{File: file}))(t)
}

func export(t testing.TB, db dbtest.DB) string {
	t.Helper()
	var to bytes.Buffer
	with(t, db, func(ctx context.Context, s *store.Store) error { return s.Transfer.Export(ctx, operator, &to, false) })
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
		for _, to := range dbtest.EnginesOf(t.Name()) {
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
	key := keyfile.KeyName(first.Info.Header.Key)
	for made, want := range map[string]string{first.File: "store-20261101T120000Z-" + key + ".backup", second.File: "store-20261101T120000Z-" + key + ".2.backup"} {
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
		text := must.Get(os.ReadFile(made.File))(t)
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
			must.Do(t, os.WriteFile(damaged, c.content, 0o600))
			_, err := p.backups.Verify(t.Context(), backup.Source{File: damaged})
			t.Run(c.name, func(t *testing.T) { wantCode(t, err, countersign.KindInvalid, backup.CodeDamaged) })
		}
	})
}

func TestABackupIsNotVerifiedWithoutATemporaryFolder(t *testing.T) {
	p := at(t, template.New(t, dbtest.SQLite))
	made := p.create(t, backup.CreateOptions{})
	t.Setenv("TMPDIR", filepath.Join(p.backups.Folder(), "missing"))
	_, err := p.backups.Verify(t.Context(), backup.Source{File: made.File})
	wantCode(t, err, countersign.KindUnavailable, "temporary_folder")
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
		with(t, db, func(ctx context.Context, s *store.Store) error {
			_, err := s.CreateWorkspace(ctx, operator, workspace("zelda-9"))
			return err
		})
		later := export(t, db)
		done := p.restore(t, made.File)
		if got := export(t, db); strings.Contains(got, "zelda-9") {
			t.Error("the restored store has what was added after the backup")
		}
		p.restore(t, done.Before)
		expect.Equalf(t, export(t, db), later, "the backup before the restore did not bring back what was there")
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
		must.Get(keyfile.Create(target.db.Dir))(t)
		_, err = target.backups.Restore(t.Context(), backup.Source{File: made.File})
		wantCode(t, err, countersign.KindConflict, backup.CodeKeyFile)
		copyFile(t, filepath.Join(db.Dir, keyfile.FileName), filepath.Join(target.db.Dir, keyfile.FileName))
		target.restore(t, made.File)
		if got, want := export(t, target.db), export(t, db); got != want {
			t.Error("the store beside its lone key file has other content")
		}
	})
}

func TestARestoreThatFailsLeavesANewKeyFileThatWasNotInItsPlace(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		other := at(t, template.New(t, db.Engine))
		made := other.create(t, backup.CreateOptions{KeyFile: true})
		want := export(t, db)
		old := must.Get(os.ReadFile(filepath.Join(db.Dir, keyfile.FileName)))(t)
		with(t, db, func(ctx context.Context, s *store.Store) error {
			_, err := s.Rekey(ctx, operator)
			return err
		})
		key := filepath.Join(db.Dir, keyfile.FileName)
		err := os.Rename(key, key+".new") // as after a kill between the commit and the replacement
		if err == nil {
			err = os.WriteFile(key, old, 0o600)
		}
		must.Do(t, err)
		p := at(t, db)
		ctx, stop := context.WithCancel(t.Context())
		p.backups.Reached(func(step string) {
			if step == "loaded" {
				stop()
			}
		})
		if _, err := p.backups.Restore(ctx, backup.Source{File: made.File}); err == nil {
			t.Fatal("the restore did not fail")
		}
		expect.Equalf(t, export(t, db), want, "the store has other content, or no key file")
	})
}

func TestABackupIntoAFolderRemovesOnlyWhatBackupsLeft(t *testing.T) {
	t.Parallel()
	p := at(t, template.New(t, dbtest.SQLite))
	folder := t.TempDir()
	const partial, copied = "store-20261101T120000Z-0123abcd.backup.age.partial", "store.db.copy-123"
	left := map[string]bool{
		"store-verify-purchase/notes.txt": true, "store-verify-12/notes.txt": true, "store-notes.partial": true, "store.db.copy-of-may": true,
		"addon-20261101T120000Z.backup.partial": true, "store-20261101T120000Z.backup.partial/notes.txt": true,
		partial: false, copied: false, copied + "-journal": false, copied + "-wal": false, copied + "-shm": false, "store.db-journal": true,
		"store-verify-3/verify.db-wal": false,
	}
	for name := range left {
		path := filepath.Join(folder, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		write(t, path)
	}
	p.create(t, backup.CreateOptions{File: filepath.Join(folder, "x.backup")})
	for name, want := range left {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	made := p.create(t, backup.CreateOptions{})
	for _, name := range []string{partial, copied} {
		write(t, filepath.Join(filepath.Dir(made.File), name))
	}
	serve(t, p.db) // a server that starts does the same in the folder of its backups
	for _, name := range []string{partial, copied, filepath.Base(made.File)} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(made.File), name)); (err == nil) != (name == filepath.Base(made.File)) {
			t.Errorf("after the start, %s: %v", name, err)
		}
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	must.Do(t, err)
}
