package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// digest is that of all files below a folder, with their names and modes.
func digest(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	must.Do(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			all = append(all, path)
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, fmt.Sprintf("%s %v %x", path, entry.Type(), sha256.Sum256(text)))
		return err
	}))
	return strings.Join(all, "\n")
}

// catalog is the digest of all relations of a PostgreSQL database and their rows, "" for SQLite.
func catalog(t *testing.T, at dbtest.DB) string {
	t.Helper()
	if at.URL == "" {
		return ""
	}
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL}))(t)
	defer db.Close()
	sum := must.Get(sqldb.One(t.Context(), db.Queries(), sqldb.Value[string], `SELECT md5(coalesce(string_agg(relname || query_to_xml(format('SELECT * FROM %I', relname), false, false, '')::text, '' ORDER BY relname), ''))
		FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S')`))(t)
	return sum
}

// runAt runs a command on a place and returns its exit code and output.
func runAt(t *testing.T, dir, url string, args ...string) (code int, out string) {
	t.Helper()
	args = append(slices.Clone(args), "--data", dir)
	if url != "" {
		args = append(args, "--db", url)
	}
	var printed bytes.Buffer
	code = run(context.WithoutCancel(t.Context()), args, func(string) (string, bool) { return "", false }, strings.NewReader(""), &printed, &printed)
	return code, printed.String()
}

func mustRunAt(t *testing.T, dir, url string, args ...string) {
	t.Helper()
	if code, out := runAt(t, dir, url, args...); code != cli.ExitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, out)
	}
}

var (
	storeCommands = [][]string{
		{"store", "serve", "--listen", "127.0.0.1:0"}, {"store", "serve", "--listen", "127.0.0.1:0", "--accept-loss"}, {"store", "workspace", "create", "ada"},
		{"store", "workspace", "list"}, {"store", "import", os.DevNull}, {"store", "export"}, {"store", "migrate", "up"}, {"store", "migrate", "status"}, {"store", "rekey", "--yes"},
	}
	addonCommands = [][]string{
		{"addon", "serve", "--listen", "127.0.0.1:0"}, {"addon", "update"}, {"addon", "update", "--plan"}, {"addon", "update", "--web-token"}, {"addon", "setup-link"},
		{"addon", "settings", "list"}, {"addon", "api", "list"},
	}
)

// wantRefused runs commands that must not change a place, nor make a file in the folder that they name.
func wantRefused(t *testing.T, at dbtest.DB, dir string, commands [][]string, parts ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "empty.jsonl")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	root := filepath.Dir(at.Dir)
	before, rows := digest(t, root), catalog(t, at)
	for _, command := range commands {
		if i := slices.Index(command, os.DevNull); i >= 0 {
			command = slices.Concat(command[:i], []string{file}, command[i+1:])
		}
		code, out := runAt(t, dir, at.URL, command...)
		expect.Equalf(t, code, cli.ExitConflict, "%v: exit code: %s", command, out)
		for _, part := range parts {
			if !strings.Contains(out, part) {
				t.Errorf("%v: %q does not say %q", command, out, part)
			}
		}
		if after := digest(t, root); after != before {
			t.Fatalf("%v: the folder was\n%s\nand is\n%s", command, before, after)
		}
		if catalog(t, at) != rows {
			t.Fatalf("%v: the database was changed", command)
		}
	}
}

// A folder or a database of one service is refused by the other before anything is written.
func TestFolderAndDatabaseOfTheOtherService(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		setUp    []string
		file     string
		says     string
		commands [][]string
	}{
		{"an addon", []string{"addon", "update"}, "addon.db", "belongs to an addon, not to a store", storeCommands},
		{"a store", []string{"store", "workspace", "create", "ada"}, "store.db", "belongs to a store, not to an addon", addonCommands},
	} {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
				at.Dir = filepath.Join(at.Dir, "data")
				mustRunAt(t, at.Dir, at.URL, c.setUp...)
				wantRefused(t, at, at.Dir, c.commands, c.says, "name this service's own folder with --data")
				if at.URL != "" {
					wantRefused(t, at, filepath.Join(filepath.Dir(at.Dir), "new"), c.commands, "PostgreSQL database "+c.says)
					return
				}
				other := map[string]string{"addon.db": "store.db", "store.db": "addon.db"}[c.file]
				must.Do(t, os.Rename(filepath.Join(at.Dir, c.file), filepath.Join(at.Dir, other)))
				must.Do(t, os.Remove(filepath.Join(at.Dir, strings.TrimSuffix(c.file, ".db")+".commits")))
				for _, left := range []string{"update.lock", "setup-token"} {
					_ = os.Remove(filepath.Join(at.Dir, left))
				}
				wantRefused(t, at, at.Dir, c.commands, other+" "+c.says)
			})
		})
	}
}

func TestKeyFileAloneIsNotANewFolder(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		at.Dir = filepath.Join(at.Dir, "data")
		must.Do(t, os.Mkdir(at.Dir, 0o700))
		must.Get(keyfile.Create(at.Dir))(t)
		wantRefused(t, at, at.Dir, [][]string{{"store", "serve", "--listen", "127.0.0.1:0"}, {"store", "migrate", "up"}, {"store", "rekey", "--yes"}, {"addon", "serve", "--listen", "127.0.0.1:0"}},
			"This folder is not new: it contains "+at.Dir)
	})
}

// A demo's folder has the store, and the addon in a folder below.
func TestDemoRefusesAnotherServicesFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	mustRunAt(t, filepath.Join(dir, "addon"), "", "store", "workspace", "create", "ada")
	before := digest(t, dir)
	var out bytes.Buffer
	code := run(t.Context(), []string{"demo", "--keep", dir, "--listen", "127.0.0.1:0", "--addon-listen", "127.0.0.1:0"}, func(string) (string, bool) { return "", false }, strings.NewReader(""), &out, &out)
	if code != cli.ExitConflict || !strings.Contains(out.String(), "belongs to a store, not to an addon") || digest(t, dir) != before {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}

func TestDoctorNamesTheOtherService(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	mustRunAt(t, dir, "", "addon", "update")
	before := digest(t, dir)
	code, out := runAt(t, dir, "", "doctor", "--addon-data", filepath.Join(t.TempDir(), "none"))
	if code != cli.ExitNo || !strings.Contains(out, dir+" belongs to an addon, not to a store") || digest(t, dir) != before {
		t.Errorf("exit code %d: %s", code, out)
	}
}
