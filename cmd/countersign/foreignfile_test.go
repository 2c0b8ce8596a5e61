package main

import (
	"bytes"
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
)

// A file in the database's place is named, with what to do, and stays as it is.
func TestFileThatIsNotADatabaseIsNamed(t *testing.T) {
	t.Parallel()
	for _, service := range []struct {
		file     string
		setUp    []string
		commands [][]string
	}{
		{"store.db", []string{"store", "workspace", "create", "ada"}, [][]string{{"store", "workspace", "list"}, {"store", "serve", "--listen", "127.0.0.1:0"}, {"store", "migrate", "up"}}},
		{"addon.db", []string{"addon", "update"}, [][]string{{"addon", "settings", "list"}, {"addon", "serve", "--listen", "127.0.0.1:0"}, {"addon", "update"}}},
	} {
		for name, spoil := range map[string]func(t *testing.T, path string){
			"a text":             func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("a text\n", 2000))) },
			"a cut header":       func(t *testing.T, path string) { write(t, path, []byte("SQLite format 3\x00\x10\x00")) },
			"a folder":           func(t *testing.T, path string) { mkdir(t, path) },
			"no byte, and a log": func(t *testing.T, path string) { write(t, path, nil); write(t, path+"-wal", []byte("log")) },
		} {
			t.Run(service.file+" is "+name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "data")
				mustRunAt(t, dir, "", service.setUp...)
				path := filepath.Join(dir, service.file)
				must.Do(t, os.Remove(path))
				spoil(t, path)
				backup := filepath.Join(dir, "backups", strings.TrimSuffix(service.file, ".db")+"-20260102T030405Z.db")
				mkdir(t, filepath.Dir(backup))
				write(t, backup, []byte("a backup"))
				kept := digest(t, path)
				for _, command := range service.commands {
					code, out := runAt(t, dir, "", command...)
					if code != cli.ExitConflict || !strings.Contains(out, "The database file "+path+" is ") || !strings.Contains(out, "the newest is "+backup) || !strings.Contains(out, "check it with: countersign doctor") {
						t.Errorf("%v: exit code %d: %s", command, code, out)
					}
				}
				expect.Equalf(t, digest(t, path), kept, "the file was changed")
				args := []string{"doctor", "--addon-data", filepath.Join(dir, "none")}
				if service.file == "addon.db" {
					args = []string{"doctor", "--data", filepath.Join(dir, "none"), "--addon-data", dir}
				} else {
					args = append(args, "--data", dir)
				}
				var out bytes.Buffer
				code := run(t.Context(), args, func(string) (string, bool) { return "", false }, strings.NewReader(""), &out, &out)
				if code != cli.ExitNo || !strings.Contains(out.String(), "The database file "+path+" is ") || !strings.Contains(out.String(), backup) {
					t.Errorf("doctor: exit code %d: %s", code, out.String())
				}
			})
		}
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(path, text, 0o600))
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.MkdirAll(path, 0o700))
}

// A key that a variable holds is named by that variable.
func TestWrongKeyOfTheEnvironmentIsNamed(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		at.Dir = filepath.Join(at.Dir, "data")
		mustRunAt(t, at.Dir, at.URL, "store", "workspace", "create", "ada")
		other := t.TempDir()
		must.Get(keyfile.Create(other))(t)
		path := filepath.Join(other, keyfile.FileName)
		text := must.Get(os.ReadFile(path))(t)
		for _, c := range []struct{ name, value, says string }{
			{envKey, "nonsense", "The value of COUNTERSIGN_KEY is not a key file"},
			{envKey, string(text), "The key in COUNTERSIGN_KEY is the one named "},
			{envKey + "_FILE", path, "The key in COUNTERSIGN_KEY_FILE is the one named "},
			{envKey, string(text), "which is the key file " + filepath.Join(at.Dir, keyfile.FileName)},
		} {
			env := func(name string) (string, bool) {
				if name == c.name {
					return c.value, true
				}
				return "", false
			}
			args := []string{"store", "workspace", "list", "--data", at.Dir}
			if at.URL != "" {
				args = slices.Concat(args, []string{"--db", at.URL})
			}
			var out bytes.Buffer
			code := run(t.Context(), args, env, strings.NewReader(""), &out, &out)
			if code != cli.ExitConflict || !strings.Contains(out.String(), c.says) || !strings.Contains(out.String(), "set "+c.name+" to the matching key, or unset it") {
				t.Errorf("%s: exit code %d: %s", c.name, code, out.String())
			}
		}
	})
}
