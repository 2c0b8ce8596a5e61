package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestTheFlagWinsOverTheEnvironment(t *testing.T) {
	t.Parallel()
	ours, theirs := t.TempDir(), t.TempDir()
	mustRun(t, ours, "store", "workspace", "create", "ada")
	mustRun(t, theirs, "store", "workspace", "create", "bob")
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
	if r := commandIn(t, env, "store", "workspace", "list"); r.code != cli.ExitUnreachable {
		t.Errorf("%s counts without a flag: exit %d", envDB, r.code)
	}
}

func TestAnEmptySettingIsAMistake(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	empty, blank := writeFile(t, ""), writeFile(t, "\n")
	list := []string{"store", "workspace", "list"}
	site := []string{"addon", "settings", "list"}
	serve := []string{"store", "serve", "--listen", "127.0.0.1:0"}
	tests := []struct {
		name string
		env  environment
		args []string
		want string
	}{
		{"the flag of the database", nil, append(list, "--db", ""), "--db is empty; set a value, or omit it"},
		{"the flag of the folder", nil, append(list, "--data", ""), "--data is empty"},
		{"the flag of the address", nil, append(serve, "--base-url", ""), "--base-url is empty"},
		{"the folder", environment{envData: setEmpty}, list, envData + " is set but empty; set a value, or unset it"},
		{"the database", environment{envDB: setEmpty}, list, envDB + " is set but empty"},
		{"the name of the database's file", environment{envDB + "_FILE": setEmpty}, list, envDB + "_FILE is set but empty"},
		{"the database's file", environment{envDB + "_FILE": empty}, list, envDB + "_FILE: " + empty + " is empty"},
		{"a blank file", environment{envDB + "_FILE": blank}, list, envDB + "_FILE: " + blank + " is empty"},
		{"the key", environment{envKey: setEmpty}, list, envKey + " is set but empty"},
		{"the name of the key's file", environment{envKey + "_FILE": setEmpty}, list, envKey + "_FILE is set but empty"},
		{"the key's file", environment{envKey + "_FILE": empty}, list, envKey + "_FILE: " + empty + " is empty"},
		{"the address of a server", environment{envURL: setEmpty}, serve, envURL + " is set but empty"},
		{"where a server listens", environment{envListen: setEmpty}, []string{"store", "serve"}, envListen + " is set but empty"},
		{"the addon's folder", environment{envAddonData: setEmpty}, site, envAddonData + " is set but empty"},
		{"the addon's database", environment{envAddonDB: setEmpty}, site, envAddonDB + " is set but empty"},
		{"the addon's database, for doctor", environment{envAddonDB: setEmpty}, []string{"doctor"}, envAddonDB + " is set but empty"},
		{"the address in place of Google Play", environment{envPlayURL: setEmpty}, site, envPlayURL + " is set but empty"},
		{"a store without a scheme", environment{envPlayURL: "play.example"}, site, envPlayURL + " is not an address of the form http://host or https://host"},
		{"a store with a password", environment{envPlayURL: "http://me:secret@play.example"}, []string{"doctor"}, envPlayURL + " is not an address"},
		{"the addon's key", environment{envAddonKey: setEmpty}, site, envAddonKey + " is set but empty"},
		{"the first administrator", environment{envAdminEmail: setEmpty, envAddonData: t.TempDir()}, []string{"addon", "update"}, envAdminEmail + " is set but empty"},
		{"the first administrator's password", environment{envAdminEmail: "ada@shop.example", envAdminPassword + "_FILE": empty, envAddonData: t.TempDir()},
			[]string{"addon", "update"}, envAdminPassword + "_FILE: " + empty + " is empty"},
		{"the store's first administrator", environment{envStoreAdminEmail: setEmpty}, serve, envStoreAdminEmail + " is set but empty"},
		{"the store's first administrator's password", environment{envStoreAdminEmail: "ada@shop.example", envStoreAdminPassword + "_FILE": empty}, serve, envStoreAdminPassword + "_FILE: " + empty + " is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := environment{envData: dir}
			maps.Copy(env, tt.env)
			r := commandIn(t, env, tt.args...)
			if r.code != cli.ExitUsage || !strings.Contains(r.err, tt.want) {
				t.Errorf("exit %d, %q; want %d, %q", r.code, r.err, cli.ExitUsage, tt.want)
			}
		})
	}
}

func TestSecretsComeFromFiles(t *testing.T) {
	t.Parallel()
	dir := shop(t)
	key := filepath.Join(dir, "countersign.key")
	text := must.Get(os.ReadFile(key))(t)
	otherFile := filepath.Join(t.TempDir(), "key")
	must.Do(t, os.Rename(key, otherFile))
	url := writeFile(t, "postgres://nobody:hunter2@127.0.0.1:1/none\n")
	tests := []struct {
		name string
		env  environment
		code int
		want string
	}{
		{"the key file's text", environment{envKey: string(text)}, cli.ExitOK, ""},
		{"the key file by name", environment{envKey + "_FILE": otherFile}, cli.ExitOK, ""},
		{"neither", environment{}, cli.ExitConflict, "is missing"},
		{"another key", environment{envKey: "countersign-key-1:" + strings.Repeat("A", 43)}, cli.ExitConflict, "belongs to the one named"},
		{"no key at all", environment{envKey: "hunter2"}, cli.ExitConflict, "not a key file"},
		{"both", environment{envKey: string(text), envKey + "_FILE": otherFile}, cli.ExitUsage, "COUNTERSIGN_KEY and COUNTERSIGN_KEY_FILE are both set"},
		{"both for the database", environment{envDB: "postgres://h/d", envDB + "_FILE": url}, cli.ExitUsage, "COUNTERSIGN_DB and COUNTERSIGN_DB_FILE are both set"},
		{"a file that is not there", environment{envKey + "_FILE": "/nowhere"}, cli.ExitUsage, "COUNTERSIGN_KEY_FILE: /nowhere can't be read"},
		{"the database by name of a file", environment{envDB + "_FILE": url, envKey: string(text)}, cli.ExitUnreachable, "can't be reached"},
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
	t.Parallel()
	person := &cli.Stream{Width: 80}
	pipe := &cli.Stream{}
	for name, tt := range map[string]struct {
		env  environment
		flag bool
		on   *cli.Stream
		want bool
	}{
		"a terminal":     {environment{"TERM": "xterm"}, false, person, true},
		"a pipe":         {environment{"TERM": "xterm"}, false, pipe, false},
		"NO_COLOR":       {environment{"NO_COLOR": "1"}, false, person, false},
		"--no-color":     {environment{}, true, person, false},
		"a dumb machine": {environment{"TERM": "dumb"}, false, person, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := &cli.Console{LookupEnv: tt.env.lookup, Flags: cli.Flags{NoColor: tt.flag}}
			expect.Equalf(t, a.Colour(tt.on, cli.Red, "no") != "no", tt.want, "coloured")
		})
	}
}
