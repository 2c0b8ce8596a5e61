package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/config"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/spf13/pflag"
)

// settings returns one setting of each kind, as a command would have them.
func settings() []config.Setting {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags.String("listen", "127.0.0.1:8080", "`address` to listen on")
	flags.String("data", "./data", "data `folder`")
	flags.String("db", "", "`URL` of the database")
	flags.String("media", "", "`URL` of the uploaded files")
	flags.Int("fail-limit", 600, "failures a minute")
	flags.Bool("pprof", false, "serve profiles")
	flags.Duration("wait", 0, "how long to wait")
	flags.StringSlice("trusted-proxy", nil, "`network` of proxies")
	var all []config.Setting
	flags.VisitAll(func(f *pflag.Flag) {
		name := "TEST_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		all = append(all, config.Setting{Key: f.Name, Flag: f, Variable: name, Secret: f.Name == "db"})
	})
	return all
}

func setting(t *testing.T, all []config.Setting, key string) config.Setting {
	t.Helper()
	for _, s := range all {
		if s.Key == key {
			return s
		}
	}
	t.Fatalf("no setting %s", key)
	return config.Setting{}
}

// check reads a text as the file store.toml and compares it with the settings.
func check(text string) error {
	f, err := config.Parse("store.toml", []byte(text))
	if err != nil {
		return err
	}
	return f.Check(settings())
}

func TestAWrongLineIsNamedWithItsNumber(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"an unknown key, with the nearest":    {"# head\n\nlisten = ':1'\nlisen = ':2'\n", `store.toml:4: unknown setting "lisen" (did you mean listen?)`},
		"an underscore for a hyphen":          {"fail_limit = 1\n", `store.toml:1: unknown setting "fail_limit" (did you mean fail-limit?)`},
		"a capital letter":                    {"Listen = ':1'\n", `store.toml:1: unknown setting "Listen" (did you mean listen?)`},
		"an unknown key that nothing is like": {"color = 'red'\n", `store.toml:1: unknown setting "color"`},
		"a key that moves the cursor":         {"\"a\\u001b[2J\" = 1\n", `store.toml:1: unknown setting "a\\u001b[2J"`},
		"a dotted key":                        {"\nserver.listen = ':1'\n", `store.toml:2: unknown setting "server.listen"`},
		"a number for a text":                 {"listen = 8080\n", `store.toml:1: listen has a value of the wrong type: expected a text in quotes, as in listen = "127.0.0.1:8080"`},
		"a text for a number":                 {"\n\nfail-limit = \"600\"\n", "store.toml:3: fail-limit has a value of the wrong type: expected a whole number, as in fail-limit = 600"},
		"a fraction for a number":             {"fail-limit = 1.5\n", "store.toml:1: fail-limit has a value of the wrong type"},
		"a text for a switch":                 {"pprof = 'yes'\n", "store.toml:1: pprof has a value of the wrong type: expected true or false, as in pprof = false"},
		"a text for a list":                   {"trusted-proxy = '10.0.0.0/8'\n", `store.toml:1: trusted-proxy has a value of the wrong type: expected a list of texts, as in trusted-proxy = ["NETWORK"]`},
		"a number in a list":                  {"trusted-proxy = ['10.0.0.0/8',\n 10]\n", "store.toml:1: trusted-proxy has a value of the wrong type"},
		"a date for a text":                   {"db = 2024-01-01\n", `store.toml:1: db has a value of the wrong type: expected a text in quotes, as in db = "URL"`},
		"a table for a text":                  {"db = {url = 'x'}\n", "store.toml:1: db has a value of the wrong type"},
		"an empty text":                       {"\ndb = ''\n", "store.toml:2: db is empty; set a value, or remove the line"},
		"an empty text in a list":             {"trusted-proxy = ['']\n", "store.toml:1: trusted-proxy is empty"},
		"a control character":                 {"data = \"a\\u0000b\"\n", "store.toml:1: data contains a control character; remove it"},
		"a key twice":                         {"listen = ':1'\n\nlisten = ':2'\n", "store.toml:3: listen is set again, after line 1; remove one of them"},
		"a key twice, once in quotes":         {"listen = ':1'\n\"listen\" = ':2'\n", "store.toml:2: listen is set again, after line 1"},
		"a table":                             {"\n[server]\nlisten = ':1'\n", "store.toml:2: [server] begins a table; remove the line, the settings have no groups"},
		"a list of tables":                    {"\n\n[[proxy]]\n", "store.toml:3: [proxy] begins a table"},
		"a text without quotes":               {"fail-limit = 1\nlisten = 127.0.0.1:80\n", "store.toml:2: not valid TOML"},
		"a text without its end":              {"fail-limit = 1\n\nlisten = \":80\n", "store.toml:3: not valid TOML"},
		"a line without a value":              {"fail-limit = 1\nlisten\n", "store.toml:2: not valid TOML"},
		"a list without its end":              {"trusted-proxy = [\n'a',\n", "store.toml:"},
		"text that is not UTF-8":              {"# one\nlisten = \"\xff\"\n", "store.toml:2: not valid TOML"},
		"a comment that is not UTF-8":         {"# one\n# \xff\n", "store.toml:2: not valid TOML"},
		"a number that is too large":          {"fail-limit = 9223372036854775808\n", "store.toml:1: not valid TOML"},
	} {
		t.Run(name, func(t *testing.T) {
			err := check(tt.text)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v; want %s", err, tt.want)
			}
		})
	}
}

func TestAllWrongLinesAreNamedAtOnce(t *testing.T) {
	err := check("lisen = ':1'\nfail-limit = 'x'\ncolor = 1\n")
	for _, want := range []string{"store.toml:1: unknown", "store.toml:2: fail-limit", "store.toml:3: unknown"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
	if at := strings.Index(err.Error(), "toml:1"); at > strings.Index(err.Error(), "toml:2") {
		t.Errorf("lines are out of order: %v", err)
	}
}

func TestErrorsRepeatNoValue(t *testing.T) {
	for _, text := range []string{
		"db = postgres://u:hunter2@h/d\n", "db = \"postgres://u:hunter2@h/d\n", "db = 'postgres://u:hunter2@h/d' x\n",
		"db = ['postgres://u:hunter2@h/d']\n", "db = \"hunter2\\q\"\n", "db = \"hunter2\"\ndb = \"hunter2\"\n", "data = \"hunter2\\u0000\"\n",
	} {
		if err := check(text); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAFileMayBeWrittenInManyWays(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "comments": "# a\n\n\t# b\n", "a byte order mark": "\ufefflisten = ':1'\n", "lines of Windows": "listen = ':1'\r\nfail-limit = 2\r\n",
		"a list on several lines": "trusted-proxy = [ # why\n  '10.0.0.0/8',\n]\n", "an empty list": "trusted-proxy = []\n", "no line end": "listen = ':1'",
		"a number with separators": "fail-limit = 1_000\n", "a key in quotes": "'listen' = ':1'\n",
	} {
		expect.NoErrorf(t, check(text), "%s", name)
	}
}

func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.toml")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	must.Do(t, os.Chmod(path, mode))
	return path
}

func TestAFileThatCantBeTrustedOrReadIsRefused(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct{ path, want string }{
		"a folder":                 {dir, "is not a regular file"},
		"a missing file":           {filepath.Join(dir, "none"), "does not exist"},
		"a file in place of one":   {filepath.Join(write(t, "", 0o600), "store.toml"), "can't be read"},
		"a file that is too large": {write(t, strings.Repeat("# ten bytes\n", 64<<10/12+1), 0o600), "is larger than 64 KB"},
	}
	if runtime.GOOS != "windows" {
		open := write(t, "listen = ':1'\n", 0o666)
		tests["a file that all can change"] = struct{ path, want string }{open, "run: chmod o-w " + open}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := config.Read(tt.path)
			if f != nil || err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("%v; want %s", err, tt.want)
			}
		})
	}
	if _, err := config.Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is not fs.ErrNotExist: %v", err)
	}
	largest := write(t, strings.Repeat("#", 64<<10), 0o600)
	if _, err := config.Read(largest); err != nil {
		t.Errorf("64 KiB: %v", err)
	}
}

func TestAPasswordThatAllCanReadIsExposed(t *testing.T) {
	const password, plain = "db = 'postgres://u:hunter2@h/d'\n", "db = 'postgres://u@h/d'\n"
	for name, tt := range map[string]struct {
		text string
		mode os.FileMode
		want bool
	}{
		"a password for all":               {password, 0o644, true},
		"a password for a group":           {password, 0o640, false},
		"a password for the owner":         {password, 0o600, false},
		"a URL without a password":         {plain, 0o644, false},
		"a password as a parameter":        {"db = 'postgres://h/d?password=hunter2'\n", 0o644, true},
		"a text that can't be read as URL": {"db = 'postgres://u:hun%zz@h/d'\n", 0o644, true},
		"no database":                      {"listen = ':1'\n", 0o644, false},
		"a bucket with a secret":           {"media = 's3://b?token=hunter2'\n", 0o644, true},
		"a bucket without":                 {"media = 's3://b?region=eu'\n", 0o644, false},
	} {
		f, err := config.Read(write(t, tt.text, tt.mode))
		if err != nil || f.Exposed(settings()) != tt.want {
			t.Errorf("%s: exposed %t, %v", name, !tt.want, err)
		}
	}
}
