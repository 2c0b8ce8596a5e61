package config_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/config"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// unset is a lookup of variables that finds none.
func unset(config.Setting) (value, variable string, err error) { return "", "", nil }

func parse(t *testing.T, path, text string) *config.File {
	t.Helper()
	return must.Get(config.Parse(path, []byte(text)))(t)
}

func TestAFileSetsValuesOfEveryKind(t *testing.T) {
	f := parse(t, "/etc/x/store.toml", "listen = ':1'\nfail-limit = 7\npprof = true\nwait = '5m'\ntrusted-proxy = ['10.0.0.0/8', 'a,b']\n")
	all := settings()
	must.Do(t, config.Apply(all, unset, f))
	for i, want := range []struct {
		key   string
		value any
	}{{"listen", ":1"}, {"fail-limit", int64(7)}, {"pprof", true}, {"wait", "5m0s"}, {"trusted-proxy", []string{"10.0.0.0/8", "a,b"}}} {
		s := setting(t, all, want.key)
		if from := config.OriginOf(s.Flag); !reflect.DeepEqual(s.Value(), want.value) || from.String() != fmt.Sprintf("/etc/x/store.toml:%d", i+1) || from.Kind() != "file" {
			t.Errorf("%s is %v, from %s", want.key, s.Value(), from)
		}
		if s.Flag.Changed {
			t.Errorf("--%s counts as given", want.key)
		}
	}
}

func TestAListReplacesTheListOfLowerPrecedence(t *testing.T) {
	f := parse(t, "store.toml", "trusted-proxy = ['1.1.1.1']\n")
	variable := func(s config.Setting) (string, string, error) {
		if s.Key != "trusted-proxy" {
			return "", "", nil
		}
		return "2.2.2.2,3.3.3.3", s.Variable, nil
	}
	all := settings()
	must.Do(t, config.Apply(all, variable, f))
	if got := setting(t, all, "trusted-proxy").Value(); !reflect.DeepEqual(got, []string{"2.2.2.2", "3.3.3.3"}) {
		t.Errorf("the variable makes it %v", got)
	}
}

func TestARelativeFolderStartsAtTheFolderOfTheFile(t *testing.T) {
	for text, want := range map[string]string{"sub/data": "/etc/x/sub/data", "../y": "/etc/y", "/srv/data": "/srv/data"} {
		all := settings()
		must.Do(t, config.Apply(all, unset, parse(t, "/etc/x/store.toml", "data = '"+text+"'\n")))
		if got := setting(t, all, "data").Value(); got != filepath.FromSlash(want) {
			t.Errorf("%s is %v, want %s", text, got, want)
		}
	}
}

func TestAValueThatAFlagRefusesIsNamedWhereItIs(t *testing.T) {
	variable := func(s config.Setting) (string, string, error) {
		if s.Key == "fail-limit" || s.Key == "pprof" {
			return "many", s.Variable, nil
		}
		return "", "", nil
	}
	err := config.Apply(settings(), variable, parse(t, "store.toml", "\nwait = 'long'\n"))
	for _, want := range []string{
		`TEST_FAIL_LIMIT: invalid value "many": expected a whole number`, `TEST_PPROF: invalid value "many": expected true or false`,
		`store.toml:2: wait: invalid value "long": expected a length of time`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}

func TestPasswordsOfAURLAreRedacted(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://u:hunter2@h/d":               "postgres://u:xxxxx@h/d",
		"postgres://u@h/d":                       "postgres://u@h/d",
		"postgres://h/d?sslpassword=hunter2&a=b": "postgres://h/d?a=b&sslpassword=xxxxx",
		"postgres://u:hun%zzter2@h/d":            "xxxxx",
		"host=h password=hunter2":                "xxxxx",
		"postgres:hunter2":                       "xxxxx",
		"postgres://h/d?%zz=hunter2":             "xxxxx",
		"s3://b?profile=hunter2&region=eu":       "s3://b?profile=xxxxx&region=eu",
	} {
		all := settings()
		must.Do(t, setting(t, all, "db").Flag.Value.Set(text))
		expect.Equalf[any](t, setting(t, all, "db").Redacted(), want, "%s is shown as", text)
	}
}

func TestAWrittenFileChangesNothing(t *testing.T) {
	var out bytes.Buffer
	must.Do(t, config.Write(&out, "Head.\n\nMore.", settings(), typed))
	all := settings()
	f := parse(t, "store.toml", out.String())
	must.Do(t, config.Apply(all, unset, f))
	for _, s := range all {
		if config.OriginOf(s.Flag) != (config.Origin{}) {
			t.Errorf("%s is set", s.Key)
		}
		if line := "\n#" + s.Key + " = "; !strings.Contains(out.String(), line) {
			t.Errorf("the file lacks %q", line)
		}
	}
}

func TestAWrittenFileHasTheFlagsThatWereGiven(t *testing.T) {
	given := map[string]string{"listen": "a\"b\\c\u00e4", "fail-limit": "7", "pprof": "true", "wait": "1h0m0s", "trusted-proxy": "a,b", "data": "/srv", "db": "postgres://u:p@h/d"}
	all := settings()
	for key, text := range given {
		give(t, setting(t, all, key), text)
	}
	var out bytes.Buffer
	must.Do(t, config.Write(&out, "Head", all, typed))
	read := settings()
	if err := config.Apply(read, unset, parse(t, "store.toml", out.String())); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, s := range read {
		if want := setting(t, all, s.Key).Value(); !reflect.DeepEqual(s.Value(), want) {
			t.Errorf("%s is %v, want %v", s.Key, s.Value(), want)
		}
	}
}

func TestAPathInAWrittenFileIsThatOfItsFlag(t *testing.T) {
	t.Chdir(t.TempDir())
	here := must.Get(os.Getwd())(t)
	for text, want := range map[string]string{"./shop": filepath.Join(here, "shop"), "../shop": filepath.Join(filepath.Dir(here), "shop"), filepath.Join(here, "x"): filepath.Join(here, "x")} {
		all := settings()
		give(t, setting(t, all, "data"), text)
		give(t, setting(t, all, "listen"), "./listen")
		var out bytes.Buffer
		must.Do(t, config.Write(&out, "Head", all, typed))
		read := settings()
		must.Do(t, config.Apply(read, unset, parse(t, "/etc/x/store.toml", out.String())))
		if got := setting(t, read, "data").Value(); got != want {
			t.Errorf("--data %s is %v in the file, want %s", text, got, want)
		}
		expect.Equalf(t, setting(t, read, "listen").Value(), "./listen", "an address became")
	}
}

func TestAnEmptyFlagIsRefused(t *testing.T) {
	for _, tt := range []struct{ key, text, want string }{
		{"db", "", "--db is empty; set a value, or omit it"},
		{"data", "", "--data is empty"},
		{"trusted-proxy", "", "--trusted-proxy is empty; set a value, or omit it"},
		{"trusted-proxy", "10.0.0.0/8,", "--trusted-proxy has an empty value; remove it"},
		{"trusted-proxy", "10.0.0.0/8", ""},
		{"fail-limit", "0", ""},
	} {
		all := settings()
		give(t, setting(t, all, tt.key), tt.text)
		f := parse(t, "store.toml", "trusted-proxy = ['192.0.2.1']\n")
		for name, err := range map[string]error{"Apply": config.Apply(all, unset, f), "CheckFlags": config.CheckFlags(all)} {
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%s: --%s=%s: %v, want %q", name, tt.key, tt.text, err, tt.want)
			}
		}
	}
}

func TestAnEmptyListInTheFileStandsForNone(t *testing.T) {
	all := settings()
	must.Do(t, config.Apply(all, unset, parse(t, "store.toml", "trusted-proxy = []\n")))
	if from := config.OriginOf(setting(t, all, "trusted-proxy").Flag); from.Line != 1 {
		t.Errorf("it is from %s", from)
	}
}

// give sets a setting by its flag.
func give(t *testing.T, s config.Setting, text string) {
	t.Helper()
	s.Flag.Changed = true
	must.Do(t, s.Flag.Value.Set(text))
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "listen = ':1'\n", "trusted-proxy = ['a', 'b']\n", "[a]\nb = 1", "a.b = {c = [1, 2]}\n", "db = \"\\u0041\"\n", "\ufeff'x y' = 1979-05-27T07:32:00Z", "a = '''\nb'''\na = 2"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := config.Parse("store.toml", text)
		if err == nil {
			all := settings()
			if err = file.Check(all); err == nil {
				err = config.Apply(all, unset, file)
			}
			for _, s := range all {
				from := config.OriginOf(s.Flag)
				if lines := 1 + bytes.Count(text, []byte("\n")); from.File != "" && (from.Line < 1 || from.Line > lines) {
					t.Errorf("%s is from line %d of %d", s.Key, from.Line, lines)
				}
			}
		}
		if err != nil && !strings.HasPrefix(err.Error(), "store.toml:") {
			t.Errorf("an error without a place: %v", err)
		}
	})
}

// typed leaves paths as they are.
func typed(path string) string { return path }
