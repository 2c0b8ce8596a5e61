package health

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

func tables(ctx context.Context, db *sqldb.DB) (sqldb.State, error) { return db.State(ctx) }

func missing(context.Context, *sqldb.DB) (sqldb.State, error) {
	return "", &countersign.Error{Kind: countersign.KindConflict, Message: "no database"}
}

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// private is a place as it should be.
func private(t *testing.T) Location {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.Chmod(dir, 0o700))
	key := filepath.Join(dir, "countersign.key")
	must.Do(t, os.WriteFile(key, nil, 0o600))
	return Location{Dir: dir, KeyFile: key, Migrate: "countersign x", State: tables, Now: noon}
}

func levelOf(t *testing.T, list []Finding, name string) Level {
	t.Helper()
	for _, f := range list {
		if f.Name == name {
			if f.Level != OK && (f.Why == "" || f.Fix == "") {
				t.Errorf("%+v says too little", f)
			}
			return f.Level
		}
	}
	t.Errorf("nothing about %q in %+v", name, list)
	return ""
}

func TestExposed(t *testing.T) {
	for _, c := range []struct {
		name        string
		folder, key os.FileMode
		want        []string
	}{
		{"private", 0o700, 0o600, nil},
		{"the folder", 0o755, 0o600, []string{"data folder"}},
		{"the key file", 0o700, 0o640, []string{"key file"}},
		{"both", 0o770, 0o644, []string{"data folder", "key file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := private(t)
			must.Do(t, errors.Join(os.Chmod(p.KeyFile, c.key), os.Chmod(p.Dir, c.folder)))
			var got []string
			for _, f := range Exposed(p) {
				got = append(got, f.Name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for _, name := range got { // doctor says the same
				if levelOf(t, Folder(p), name) == OK {
					t.Errorf("doctor finds nothing about the %s", name)
				}
			}
		})
	}
	if got := Exposed(Location{Dir: t.TempDir() + "/none"}); got != nil {
		t.Errorf("no folder: %+v", got)
	}
}

func TestFolder(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(p *Location) error
		check string
		want  Level
	}{
		{"a private folder", func(*Location) error { return nil }, "data folder", OK},
		{"a folder that others can enter", func(p *Location) error { return os.Chmod(p.Dir, 0o750) }, "data folder", Warn},
		{"no folder", func(p *Location) error { p.Dir += "/none"; return nil }, "data folder", Fail},
		{"a file", func(p *Location) error { p.Dir = p.KeyFile; return nil }, "data folder", Fail},
		{"a private key file", func(*Location) error { return nil }, "key file", OK},
		{"a key that is given", func(p *Location) error { p.KeyFile = ""; return nil }, "key file", OK},
		{"a key file that others can read", func(p *Location) error { return os.Chmod(p.KeyFile, 0o640) }, "key file", Fail},
		{"no key file", func(p *Location) error { return os.Remove(p.KeyFile) }, "key file", Warn},
		{"files of the folder's user", func(*Location) error { return nil }, "file owners", OK},
		{"a file of another user", func(p *Location) error {
			return foreign(t, os.WriteFile(p.Dir+"/x.backup", nil, 0o600), p.Dir+"/x.backup")
		}, "file owners", Warn},
		{"a folder of another user", func(p *Location) error { return foreign(t, os.Mkdir(p.Dir+"/backups", 0o700), p.Dir+"/backups") }, "file owners", Fail},
		{"a database of another user", func(p *Location) error {
			return foreign(t, os.WriteFile(p.Dir+"/requests.db", nil, 0o600), p.Dir+"/requests.db")
		}, "file owners", Fail},
		{"the folder of a disk", func(p *Location) error { return foreign(t, os.Mkdir(p.Dir+"/lost+found", 0o700), p.Dir+"/lost+found") }, "file owners", OK},
		{"a disk with room", func(*Location) error { return nil }, "disk", OK},
		{"no disk", func(p *Location) error { p.Dir += "/none"; return nil }, "disk", Warn},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := private(t)
			must.Do(t, c.spoil(&p))
			expect.Equal(t, levelOf(t, Folder(p), c.check), c.want)
		})
	}
}

// foreign makes a file, which was created with an error or nil, one of another user.
func foreign(t *testing.T, created error, path string) error {
	t.Helper()
	if os.Geteuid() != 0 {
		dbtest.Skip(t, errors.New("only root can change owners"))
	}
	return errors.Join(created, os.Chown(path, 4711, 4711))
}

func TestBackups(t *testing.T) {
	p := private(t)
	folder := filepath.Join(p.Dir, "backups")
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // also root can't read it as a folder
		t.Fatal(err)
	}
	if got := Backups(p, "store"); got.Level != Fail {
		t.Errorf("a folder that can't be read: %+v", got)
	}
	must.Do(t, os.Remove(folder))
	must.Do(t, os.Mkdir(folder, 0o700))
	if got := Backups(p, "store"); got.Level != OK {
		t.Errorf("none: %+v", got)
	}
	write := func(name, content string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(folder, name)
		must.Do(t, os.WriteFile(path, []byte(content), mode))
		must.Do(t, os.Chtimes(path, noon, noon.Add(-72*time.Hour)))
	}
	write("store-20261029T120000Z.db", "x", 0o600)
	write("store-20261030T120000Z.db.partial", "", 0o600)
	write("addon-20261031T120000Z.db", "", 0o600)
	if got := Backups(p, "store"); got.Level != OK || got.What != "The newest backup is store-20261029T120000Z.db, 3 days old" {
		t.Errorf("%+v", got)
	}
	if got := Backups(p, "addon"); got.Level != Warn {
		t.Errorf("an empty one: %+v", got)
	}
	write("store-20261031T120000Z.jsonl", "x", 0o644)
	if got := Backups(p, "store"); got.Level != Warn {
		t.Errorf("one that others can read: %+v", got)
	}
}

func TestDatabase(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		path := filepath.Join(at.Dir, "x.db")
		db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: path}))(t)
		p := Location{Dir: at.Dir, Migrate: "countersign x", State: missing, Now: noon}
		if list, ok := Database(t.Context(), db, p); ok || len(list) != 1 || levelOf(t, list, "database") != Fail || list[0].What != "no database" {
			t.Errorf("a folder that lost its database: %+v, %t", list, ok)
		}
		p.State = tables
		list, ok := Database(t.Context(), db, p)
		if ok || levelOf(t, list, "tables") != Warn || levelOf(t, list, "database") != OK {
			t.Errorf("empty: %+v, %t", list, ok)
		}
		must.Do(t, db.Migrate(t.Context()))
		if list, ok := Database(t.Context(), db, p); !ok || slices.ContainsFunc(list, func(f Finding) bool { return f.Level != OK }) {
			t.Errorf("current: %+v, %t", list, ok)
		}
		must.Do(t, db.Close())
		if list, ok := Database(t.Context(), db, p); ok || levelOf(t, list, "database") != Fail {
			t.Errorf("closed: %+v, %t", list, ok)
		}
	})
}

// A page of the file is overwritten while nobody has it open.
func TestDamagedFileIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	open := func() *sqldb.DB {
		return must.Get(sqldb.Open(t.Context(), sqldb.Options{Path: path}))(t)
	}
	db := open()
	must.Do(t, db.Migrate(t.Context()))
	quick := func() Finding { return integrity(t.Context(), db, true) } // says when the server read the file
	if got := quick(); got.Level != OK || !strings.Contains(got.What, "in the background") {
		t.Errorf("%+v", got)
	}
	must.Do(t, db.Tx(t.Context(), func(q sqldb.Queries) error {
		return q.SetMeta(t.Context(), "integrity_checked", "2026-11-01T12:00:00.000000Z")
	}))
	if got := quick(); got.Level != OK || !strings.Contains(got.What, "intact at 2026-11-01T12:00:00Z") {
		t.Errorf("%+v", got)
	}
	must.Do(t, db.Close())
	content := must.Get(os.ReadFile(path))(t)
	for i := 4096; i < 3*4096; i++ {
		content[i] = 0xff
	}
	must.Do(t, os.WriteFile(path, content, 0o600))
	db = open()
	defer db.Close()
	if list, ok := Database(t.Context(), db, Location{Migrate: "x", State: tables}); ok || levelOf(t, list, "database") != Fail {
		t.Errorf("%+v", list)
	}
}

func TestACommitFileThatCantBeReadIsAWarning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	must.Do(t, os.WriteFile(sqldb.CommitFile(path), []byte("nonsense"), 0o600))
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{Path: path}))(t)
	defer db.Close()
	must.Do(t, db.Migrate(t.Context()))
	list, _ := Database(t.Context(), db, Location{Dir: filepath.Dir(path), State: tables, Now: noon})
	expect.Equalf(t, levelOf(t, list, "commits"), Warn, "%+v", list)
}

func TestAKeyFileThatCanNotBeReadIsNotReplaced(t *testing.T) {
	p := Location{Command: "countersign store"}
	for _, c := range []struct {
		kind      countersign.Kind
		code, fix string
	}{
		{countersign.KindUnavailable, "data_folder", "Let the user that runs the service read it."},
		{countersign.KindUnavailable, countersign.CodeUnavailable, "Check the database."},
		{countersign.KindConflict, "key_missing", "Restore the key file of this database from a backup, or create a new one with: countersign store rekey"},
	} {
		if fix := KeyFileFix(&countersign.Error{Kind: c.kind, Code: c.code}, p); fix != c.fix {
			t.Errorf("%s: %q, want %q", c.code, fix, c.fix)
		}
	}
}

func TestAFolderInThePlaceOfAFileIsFound(t *testing.T) {
	p := private(t)
	for _, name := range []string{"serve.lock", "backups"} {
		must.Do(t, os.Mkdir(filepath.Join(p.Dir, name), 0o700))
	}
	if found := owners(p); len(found) != 1 || found[0].Level != Fail || !strings.HasSuffix(found[0].What, "in the place of files: "+filepath.Join(p.Dir, "serve.lock")) {
		t.Errorf("%+v", found)
	}
}
