package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheFlagWinsOverTheEnvironment(t *testing.T) {
	ours, theirs := t.TempDir(), t.TempDir()
	must(t, ours, "store", "workspace", "create", "ada")
	must(t, theirs, "store", "workspace", "create", "bob")
	for name, args := range map[string][]string{
		"the variable alone": {"store", "workspace", "list"},
		"the flag after it":  {"store", "workspace", "list", "--data", theirs},
	} {
		t.Run(name, func(t *testing.T) {
			r := command(t, ours, args...)
			if found, want := strings.Contains(r.out, "ada"), len(args) == 3; r.code != 0 || found != want {
				t.Errorf("exit %d, found %t: %s%s", r.code, found, r.out, r.err)
			}
		})
	}
	env := environment{envData: ours, envDB: "postgres://nobody@127.0.0.1:1/none"}
	if r := commandIn(t, env, "store", "workspace", "list"); r.code != exitUnreachable {
		t.Errorf("%s counts without a flag: exit %d", envDB, r.code)
	}
	if r := commandIn(t, env, "store", "workspace", "list", "--db", ""); r.code != 0 || !strings.Contains(r.out, "ada") {
		t.Errorf("an empty --db means SQLite: exit %d, %s%s", r.code, r.out, r.err)
	}
}

func TestSecretsComeFromFiles(t *testing.T) {
	dir := shop(t)
	key := filepath.Join(dir, "countersign.key")
	text, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "key")
	if err := os.Rename(key, elsewhere); err != nil {
		t.Fatal(err)
	}
	url := writeFile(t, "postgres://nobody:hunter2@127.0.0.1:1/none\n")
	tests := []struct {
		name string
		env  environment
		code int
		want string
	}{
		{"the key file's text", environment{envKey: string(text)}, exitOK, ""},
		{"the key file by name", environment{envKey + "_FILE": elsewhere}, exitOK, ""},
		{"neither", environment{}, exitConflict, "is missing"},
		{"another key", environment{envKey: "countersign-key-1:" + strings.Repeat("A", 43)}, exitConflict, "belongs to the one named"},
		{"no key at all", environment{envKey: "hunter2"}, exitConflict, "this is no key file"},
		{"both", environment{envKey: string(text), envKey + "_FILE": elsewhere}, exitUsage, "COUNTERSIGN_KEY and COUNTERSIGN_KEY_FILE are both set"},
		{"both for the database", environment{envDB: "postgres://h/d", envDB + "_FILE": url}, exitUsage, "COUNTERSIGN_DB and COUNTERSIGN_DB_FILE are both set"},
		{"a file that is not there", environment{envKey + "_FILE": "/nowhere"}, exitUsage, "COUNTERSIGN_KEY_FILE: /nowhere can't be read"},
		{"the database by name of a file", environment{envDB + "_FILE": url, envKey: string(text)}, exitUnreachable, "can't be reached"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.env[envData] = dir
			r := commandIn(t, tt.env, "store", "purchase", "check", "code-1")
			if r.code != tt.code || !strings.Contains(r.err, tt.want) {
				t.Errorf("exit %d, %q; want %d, %q", r.code, r.err, tt.code, tt.want)
			}
			if strings.Contains(r.err, "hunter2") {
				t.Errorf("a secret was printed: %q", r.err)
			}
		})
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	person := &stream{isTerminal: true}
	pipe := &stream{}
	for name, tt := range map[string]struct {
		env  environment
		flag bool
		on   *stream
		want bool
	}{
		"a terminal":     {environment{"TERM": "xterm"}, false, person, true},
		"a pipe":         {environment{"TERM": "xterm"}, false, pipe, false},
		"NO_COLOR":       {environment{"NO_COLOR": "1"}, false, person, false},
		"--no-color":     {environment{}, true, person, false},
		"a dumb machine": {environment{"TERM": "dumb"}, false, person, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{getenv: tt.env.get, globalFlags: globalFlags{noColor: tt.flag}}
			if got := a.colour(tt.on, red, "no") != "no"; got != tt.want {
				t.Errorf("coloured: %t", got)
			}
		})
	}
}
