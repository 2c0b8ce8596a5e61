package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/config"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// otherValues are three values of each setting, in the form of a flag, that differ from its default.
var otherValues = map[string][3]string{
	"int": {"1", "2", "3"}, "bool": {"true", "true", "true"}, "duration": {"1h0m0s", "2h0m0s", "3h0m0s"},
	"stringSlice": {"10.0.0.1", "10.0.0.2", "10.0.0.3"}, "string": {"/one", "/two", "/three"},
}

// tomlOf writes a value of a flag as a file has it.
func tomlOf(kind, text string) string {
	switch kind {
	case "int", "bool":
		return text
	case "stringSlice":
		return `["` + text + `"]`
	}
	return `"` + text + `"`
}

// shownSetting is what config show says of one setting of a service.
func shownSetting(t *testing.T, env environment, service, key string, flags ...string) configView {
	t.Helper()
	r := commandIn(t, env, append([]string{"config", "show", "--service", service, "--json"}, flags...)...)
	if r.code != 0 {
		t.Fatalf("config show %v: exit %d: %s", flags, r.code, r.err)
	}
	for line := range strings.Lines(r.out) {
		var v configView
		must.Do(t, json.Unmarshal([]byte(line), &v))
		if v.Setting == key {
			return v
		}
	}
	t.Fatalf("config show lacks %s", key)
	return configView{}
}

func TestEachSettingHasOneOrderOfPrecedence(t *testing.T) {
	t.Parallel()
	for _, l := range []locationFlags{storeLocation, addonLocation} {
		for _, s := range l.settings(newTree()) {
			t.Run(l.service()+" "+s.Key, func(t *testing.T) {
				kind := s.Flag.Value.Type()
				values, known := otherValues[kind]
				switch {
				case s.Secret:
					values = [3]string{"postgres://one", "postgres://two", "postgres://three"}
				case !known:
					values = otherValues["string"]
				}
				file := writeFile(t, "# one line before it\n"+s.Key+" = "+tomlOf(kind, values[0])+"\n")
				env := environment{l.envConfig: file}
				want := func(v configView, origin, text string) {
					t.Helper()
					if v.Origin != origin || !strings.Contains(strings.Trim(string(mustJSON(t, v.Value)), `[]"`), text) {
						t.Errorf("%s: %v from %s; want %s", origin, v.Value, v.Origin, text)
					}
				}
				want(shownSetting(t, environment{}, l.service(), s.Key), "default", strings.Trim(s.Flag.DefValue, "[]"))
				v := shownSetting(t, env, l.service(), s.Key)
				want(v, "file", values[0])
				if v.File == nil || *v.File != file || *v.Line != 2 {
					t.Errorf("the file is not named with its line: %+v", v)
				}
				env[s.Variable] = values[1]
				v = shownSetting(t, env, l.service(), s.Key)
				want(v, "variable", values[1])
				expect.Equalf(t, v.Variable, s.Variable, "the variable")
				want(shownSetting(t, env, l.service(), s.Key, "--"+s.Key+"="+values[2]), "flag", values[2])
				env[s.Variable] = setEmpty
				if r := commandIn(t, env, "config", "show"); r.code != cli.ExitUsage || !strings.Contains(r.err, s.Variable+" is set but empty") {
					t.Errorf("an empty variable: exit %d, %s", r.code, r.err)
				}
			})
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	return must.Get(json.Marshal(v))(t)
}

// A setting that serve reads is one whose wrong value it names: here all that have rules of their own.
func TestServeNamesTheLineAndTheVariableOfAWrongValue(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "listen = '8080'\n\nbase-url = 'shop.example'\ntrusted-proxy = ['10.0.0.0/99']\nlog = 'loud'\nfail-limit = -1\n")
	for _, l := range []locationFlags{storeLocation, addonLocation} {
		env := environment{l.envConfig: file, l.variable("metrics"): "x"}
		r := commandIn(t, env, l.service(), "serve", "--data", t.TempDir()+"/new")
		for _, want := range []string{
			file + ":1: listen: invalid address", file + ":3: base-url: invalid web address", file + ":4: trusted-proxy: invalid network",
			file + ":5: log: ", file + ":6: fail-limit: ", l.variable("metrics") + ": invalid address",
		} {
			if r.code != cli.ExitUsage || !strings.Contains(r.err, want) {
				t.Errorf("%s: exit %d, %s lacks %s", l.service(), r.code, r.err, want)
			}
		}
	}
}

func TestAcceptLossIsAFlagAlone(t *testing.T) {
	t.Parallel()
	r := commandIn(t, environment{envConfig: writeFile(t, "accept-loss = true\n")}, "store", "serve", "--data", t.TempDir())
	if r.code != cli.ExitUsage || !strings.Contains(r.err, `:1: unknown setting "accept-loss"`) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestEverySettingNamesItsVariableInItsHelp(t *testing.T) {
	t.Parallel()
	for _, l := range []locationFlags{storeLocation, addonLocation} {
		for _, s := range l.settings(newTree()) {
			if names := ourName.FindAllString(s.Flag.Usage, -1); len(names) == 0 || names[0] != s.Variable {
				t.Errorf("the help of %s --%s names %v, want %s first", l.service(), s.Key, names, s.Variable)
			}
		}
	}
}

// inSystem runs the program where the default files are in a folder.
func inSystem(t *testing.T, folder string, env environment, args ...string) result {
	t.Helper()
	var out, problems strings.Builder
	a := &app{Console: cli.New(env.lookup, strings.NewReader(""), &out, &problems), system: folder}
	code := a.execute(t.Context(), args)
	return result{code, out.String(), problems.String()}
}

func TestTheDefaultFileIsReadByTheCommandsOfItsService(t *testing.T) {
	t.Parallel()
	system, ours := t.TempDir(), t.TempDir()
	mustRun(t, ours, "store", "workspace", "create", "ada")
	list := []string{"store", "workspace", "list"}
	put := func(name, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(system, name), []byte(text), 0o600))
	}
	put("store.toml", "data = '"+ours+"'\n")
	put("addon.toml", "bogus = 1\n")
	if r := inSystem(t, system, nil, list...); r.code != 0 || !strings.Contains(r.out, "ada") {
		t.Errorf("the default file: exit %d, %s%s", r.code, r.out, r.err)
	}
	if r := inSystem(t, system, nil, "addon", "settings", "list"); r.code != cli.ExitUsage || !strings.Contains(r.err, filepath.Join(system, "addon.toml")+`:1: unknown setting "bogus"`) {
		t.Errorf("the addon's file: exit %d, %s", r.code, r.err)
	}
	empty := t.TempDir()
	for name, r := range map[string]result{
		"the flag":            inSystem(t, system, nil, append(list, "--data", empty)...),
		"the variable":        inSystem(t, system, environment{envData: empty}, list...),
		"none by a flag":      inSystem(t, system, environment{}, append(list, "--config", "none")...),
		"none by a variable":  inSystem(t, system, environment{envConfig: "none"}, list...),
		"another file":        inSystem(t, system, environment{envConfig: writeFile(t, "data = '"+empty+"'\n")}, list...),
		"a flag for the file": inSystem(t, system, environment{envConfig: "/nowhere"}, append(list, "--config", writeFile(t, "data = '"+empty+"'\n"))...),
	} {
		if r.code != cli.ExitNotFound || strings.Contains(r.out, "ada") {
			t.Errorf("%s: exit %d, %s%s", name, r.code, r.out, r.err)
		}
	}
	if r := inSystem(t, system, nil, "doctor", "--addon-config", "none"); !strings.Contains(r.out, "Settings are read from "+filepath.Join(system, "store.toml")) {
		t.Errorf("doctor: exit %d, %s%s", r.code, r.out, r.err)
	}
	for _, args := range []string{"version", "app --help", "store init", "addon init"} {
		if r := inSystem(t, system, nil, strings.Fields(args)...); r.code != 0 {
			t.Errorf("%s reads a file: %s", args, r.err)
		}
	}
}

func TestANamedFileMustExist(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none.toml")
	for _, l := range []locationFlags{storeLocation, addonLocation} {
		r := commandIn(t, environment{}, l.service(), "audit", "list", "--config", missing)
		if r.code != cli.ExitUsage || !strings.Contains(r.err, missing+" does not exist; correct --config or "+l.envConfig+", or write the file with: "+l.command+" init") {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
	}
	if r := commandIn(t, environment{envConfig: setEmpty}, "store", "audit", "list"); r.code != cli.ExitUsage || !strings.Contains(r.err, envConfig+" is set but empty") {
		t.Errorf("an empty name: exit %d, %s", r.code, r.err)
	}
}

func TestAFileOfInitSetsWhatItWasGiven(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "addon.toml")
	r := commandIn(t, environment{}, "addon", "init", "--listen", ":9", "--allow-private", "10.0.0.0/8", "--db", "postgres://u:hunter2@h/d", "--out", path)
	if r.code != 0 || strings.Contains(r.out+r.err, "hunter2") {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	env := environment{envAddonConfig: path}
	for key, want := range map[string]any{"listen": ":9", "allow-private": []any{"10.0.0.0/8"}, "db": "postgres://u:xxxxx@h/d"} {
		if v := shownSetting(t, env, "addon", key); v.Origin != "file" || !reflect.DeepEqual(v.Value, want) {
			t.Errorf("%s is %v from %s", key, v.Value, v.Origin)
		}
	}
	if v := shownSetting(t, env, "addon", "fail-limit"); v.Origin != "default" {
		t.Errorf("fail-limit comes from %s", v.Origin)
	}
	again := commandIn(t, environment{}, "addon", "init", "--out", path)
	if again.code != cli.ExitConflict || !strings.Contains(again.err, path+" already exists and is not overwritten") {
		t.Errorf("exit %d: %s", again.code, again.err)
	}
}

func TestAPathOfInitIsThatOfItsFlag(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, l := range []locationFlags{storeLocation, addonLocation} {
		path := filepath.Join(t.TempDir(), l.configName()) // in another folder
		given := map[string]string{"data": "./shop", "tls-cert": "c.pem", "tls-key": "../k.pem"}
		args := []string{l.service(), "init", "--out", path}
		for key, text := range given {
			args = append(args, "--"+key, text)
		}
		if r := commandIn(t, environment{}, args...); r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		for key, text := range given {
			want := must.Get(filepath.Abs(text))(t)
			if v := shownSetting(t, environment{l.envConfig: path}, l.service(), key); v.Value != want {
				t.Errorf("%s is %v in the file, want %s", key, v.Value, want)
			}
		}
	}
}

func TestInitRefusesAnEmptyFlag(t *testing.T) {
	t.Parallel()
	for _, l := range []locationFlags{storeLocation, addonLocation} {
		for _, s := range l.settings(newTree()) {
			path := filepath.Join(t.TempDir(), l.configName())
			r := commandIn(t, environment{}, l.service(), "init", "--"+s.Key+"=", "--out", path)
			if kind := s.Flag.Value.Type(); r.code != cli.ExitUsage || (kind == "string" || kind == "stringSlice") && !strings.Contains(r.err, "--"+s.Key+" is empty; set a value, or omit it") {
				t.Errorf("%s init --%s=: exit %d, %s", l.service(), s.Key, r.code, r.err)
			}
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("%s init --%s= leaves a file: %v", l.service(), s.Key, err)
			}
		}
	}
}

func TestAnEmptyListFlagRemovesNoListOfTheFileOrTheVariable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		l   locationFlags
		key string
	}{{storeLocation, "trusted-proxy"}, {storeLocation, "acme"}, {addonLocation, "trusted-proxy"}, {addonLocation, "allow-private"}, {addonLocation, "acme"}} {
		for name, env := range map[string]environment{
			"file":     {tt.l.envConfig: writeFile(t, tt.key+" = ['10.0.0.0/8']\n")},
			"variable": {tt.l.variable(tt.key): "10.0.0.0/8"},
			"nothing":  {},
		} {
			serve := []string{tt.l.service(), "serve", "--data", filepath.Join(t.TempDir(), "new"), "--metrics", "x"} // the wrong address ends it anyway
			for _, args := range [][]string{serve, {"config", "show", "--service", tt.l.service()}} {
				r := commandIn(t, env, append(args, "--"+tt.key, "")...)
				if r.code != cli.ExitUsage || !strings.Contains(r.err, "--"+tt.key+" is empty; set a value, or omit it") {
					t.Errorf("%s, %v --%s '': exit %d, %s", name, args, tt.key, r.code, r.err)
				}
			}
		}
	}
}

// Without their comment signs, the lines of a new file are the defaults.
func TestEveryLineOfInitIsItsDefault(t *testing.T) {
	t.Parallel()
	for _, l := range []locationFlags{storeLocation, addonLocation} {
		written := commandIn(t, environment{}, l.service(), "init")
		var lines []string
		for _, s := range l.settings(newTree()) {
			_, after, found := strings.Cut(written.out, "\n#"+s.Key+" = ")
			value, _, _ := strings.Cut(after, "\n")
			if !found {
				t.Errorf("%s init lacks %s", l.service(), s.Key)
			}
			if value != `""` { // an empty text stands for no default
				lines = append(lines, s.Key+" = "+value)
			}
		}
		file := writeFile(t, strings.Join(lines, "\n")+"\n")
		for _, s := range l.settings(newTree()) {
			if s.Key == "data" { // starts at the folder of the file
				continue
			}
			plain, set := shownSetting(t, environment{}, l.service(), s.Key), shownSetting(t, environment{l.envConfig: file}, l.service(), s.Key)
			if !reflect.DeepEqual(plain.Value, set.Value) {
				t.Errorf("%s is %v without the file and %v with it", s.Key, plain.Value, set.Value)
			}
		}
	}
}

func TestConfigShowNeedsTheServiceOfAFlag(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--listen :9", "--data x", "--config none"} {
		r := commandIn(t, environment{}, append([]string{"config", "show"}, strings.Fields(args)...)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.err, " needs --service: store or addon") {
			t.Errorf("%s: exit %d, %s", args, r.code, r.err)
		}
	}
	r := commandIn(t, environment{}, "config", "show", "--service", "store", "--fail-limit", "many")
	if r.code != cli.ExitUsage || !strings.Contains(r.err, `--fail-limit: invalid value "many": expected a whole number`) {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
}

func TestConfigShowRefusesFlagsOfTheOtherService(t *testing.T) {
	t.Parallel()
	root := newTree()
	for _, tt := range []struct{ shown, other locationFlags }{{storeLocation, addonLocation}, {addonLocation, storeLocation}} {
		ours, refused := tt.shown.settings(root), 0
		for _, s := range tt.other.settings(root) {
			if slices.ContainsFunc(ours, func(its config.Setting) bool { return its.Key == s.Key }) {
				continue // TestEachSettingHasOneOrderOfPrecedence uses it
			}
			refused++
			value := otherValues[s.Flag.Value.Type()][0]
			r := commandIn(t, environment{}, "config", "show", "--service", tt.shown.service(), "--"+s.Key, value)
			want := "--" + s.Key + " is not a setting of the " + tt.shown.service() + "; omit it, or use --service " + tt.other.service()
			if r.code != cli.ExitUsage || !strings.Contains(r.err, want) || r.out != "" {
				t.Errorf("exit %d, %s%s; want %s", r.code, r.out, r.err, want)
			}
		}
		if refused == 0 {
			t.Errorf("the %s has no setting of its own", tt.other.service())
		}
	}
}

func TestAServerWarnsOfAPasswordThatAllCanRead(t *testing.T) {
	t.Parallel()
	root := newTree()
	serve, _, err := root.Find([]string{"store", "serve"})
	must.Do(t, err)
	path := writeFile(t, "db = 'postgres://u:hunter2@127.0.0.1:1/d'\n")
	must.Do(t, os.Chmod(path, 0o644))
	file := must.Get(config.Read(path))(t)
	a := &app{configs: map[string]*config.File{"store": file}}
	found := a.exposedConfig(serve, storeLocation)
	if len(found) != 1 || found[0].Fix != "chmod o-r "+path || strings.Contains(found[0].What, "hunter2") {
		t.Errorf("%+v", found)
	}
}
