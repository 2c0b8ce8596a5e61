package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/config"
	"github.com/countersign/countersign/internal/must"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// referencePages have the tables of all commands and all variables.
var referencePages = []string{"store.md", "addon-reference.md", "license-reference.md", "configuration.md"}

// tableRows are the rows of the reference's tables, each as its cells.
func tableRows(t *testing.T) (rows [][]string) {
	t.Helper()
	for _, page := range referencePages {
		text := must.Get(os.ReadFile(filepath.Join("../../docs", page)))(t)
		for line := range strings.SplitSeq(string(text), "\n") {
			if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") && len(cells) >= 3 {
				cells[0], cells[len(cells)-1] = strings.TrimPrefix(cells[0], "| "), strings.TrimSuffix(cells[len(cells)-1], " |")
				rows = append(rows, cells)
			}
		}
	}
	return rows
}

var (
	flagName   = regexp.MustCompile(`--[a-z][a-z0-9-]*`)
	ourCommand = regexp.MustCompile("^`((?:store|addon|app|config|demo|doctor|version|completion)\\b[^`]*)`$")
	ourName    = regexp.MustCompile(`COUNTERSIGN_[A-Z_]+`)
)

// newTree returns all commands, with those that cobra adds when it runs.
func newTree() *cobra.Command {
	root := newRoot(&app{Console: cli.New(environment{}.lookup, strings.NewReader(""), nil, nil)})
	root.InitDefaultCompletionCmd("store")
	return root
}

// eachCommand calls fn for every command that does something.
func eachCommand(c *cobra.Command, fn func(*cobra.Command)) {
	if c.Name() == "completion" || !c.HasAvailableSubCommands() {
		if !c.Hidden && c.Name() != "help" {
			fn(c)
		}
		return
	}
	for _, sub := range c.Commands() {
		eachCommand(sub, fn)
	}
}

func eachFlag(set *pflag.FlagSet, fn func(name, usage string)) {
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			fn("--"+f.Name, f.Usage)
		}
	})
}

// commandRow is the row of a command as a table should have it.
func commandRow(c *cobra.Command) []string {
	_, use, _ := strings.Cut(c.UseLine(), " ")
	use, _, _ = strings.Cut(use, " --")
	var flags []string
	eachFlag(c.LocalNonPersistentFlags(), func(name, _ string) { flags = append(flags, "`"+name+"`") })
	return []string{"`" + strings.TrimSuffix(use, " [flags]") + "`", c.Short, strings.Join(flags, ", ")}
}

func TestTheTablesHaveEveryCommandAndItsFlags(t *testing.T) {
	t.Parallel()
	documented := map[string][]string{}
	for _, row := range tableRows(t) {
		if m := ourCommand.FindStringSubmatch(row[0]); m != nil && len(row) == 3 {
			if documented[m[1]] != nil {
				t.Errorf("%s has two rows", m[1])
			}
			documented[m[1]] = row
		}
	}
	eachCommand(newTree(), func(c *cobra.Command) {
		want := commandRow(c)
		name := strings.Trim(want[0], "`")
		row := documented[name]
		delete(documented, name)
		switch {
		case row == nil:
			t.Errorf("no table has the row\n| %s |", strings.Join(want, " | "))
		case !slices.Equal(flagName.FindAllString(row[2], -1), flagName.FindAllString(want[2], -1)):
			t.Errorf("the row of %s has the flags %s; it has %s", name, row[2], want[2])
		}
	})
	for name := range documented {
		t.Errorf("a table has %q, which is not a command", name)
	}
}

// sourceVariables are the variables in the program's source and in what is installed beside it.
func sourceVariables(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, pattern := range []string{"*.go", "../../deploy/*/*.php"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text := must.Get(os.ReadFile(file))(t)
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, name := range ourName.FindAllString(string(text), -1) {
				found[strings.TrimSuffix(name, "_FILE")] = true
			}
		}
	}
	return found
}

// secretVariables are those that a file may hold, as the program asks for them.
func secretVariables(t *testing.T) map[string]bool {
	t.Helper()
	asked := map[string]bool{}
	lookup := func(name string) (string, bool) {
		if secret, is := strings.CutSuffix(name, "_FILE"); is {
			asked[secret] = true
		}
		if name == envAdminEmail || name == envStoreAdminEmail {
			return "ada@site.example", true
		}
		return "", false
	}
	for _, args := range []string{"store workspace list", "store serve --listen 127.0.0.1:0", "addon update", "doctor", "store move", "addon move"} {
		words := append(strings.Fields(args), "--data", t.TempDir())
		run(t.Context(), words, lookup, strings.NewReader(""), new(strings.Builder), new(strings.Builder))
	}
	return asked
}

func TestTheTablesHaveEveryVariable(t *testing.T) {
	t.Parallel()
	// rows has the row of each variable; the mark (`_FILE`) says that a file may hold its value.
	rows := map[string]string{}
	for _, row := range tableRows(t) {
		text, names := strings.Join(row, " | "), row[0]
		if len(row) == 4 { // of a setting: key, variable, default, meaning
			text, names = "`--"+strings.Trim(row[0], "`")+"` "+row[1], row[1]
		}
		for _, name := range ourName.FindAllString(names, -1) {
			rows[name] += text
		}
	}
	source, secret := sourceVariables(t), secretVariables(t)
	flagsWithVariables(newTree(), func(_, variable string) { source[variable] = true })
	for name := range source {
		if row := rows[name]; row == "" {
			t.Errorf("no table has %s", name)
		} else if strings.Contains(row, "(`_FILE`)") != secret[name] {
			t.Errorf("%s can be in a file: %t, and the table says %s", name, secret[name], row)
		}
	}
	for name := range rows {
		if !source[name] {
			t.Errorf("a table has %s, which nothing reads", name)
		}
	}
	flagsWithVariables(newTree(), func(flag, variable string) {
		if !strings.Contains(rows[variable], "`"+flag+"`") {
			t.Errorf("the row of %s does not name %s: %s", variable, flag, rows[variable])
		}
	})
}

// settingRow is the row of a setting as the table of its service should have it.
func settingRow(s config.Setting) string {
	_, usage := pflag.UnquoteUsage(s.Flag)
	usage = regexp.MustCompile(` \(COUNTERSIGN_[^)]*\)`).ReplaceAllString(usage, "")
	variable, value := "`"+s.Variable+"`", ""
	if s.Secret {
		variable += " (`_FILE`)"
	}
	if text := s.Flag.DefValue; text != "" && text != "[]" {
		value = "`" + text + "`"
	}
	return "| `" + s.Key + "` | " + variable + " | " + value + " | " + usage + " |"
}

func TestTheConfigurationPageHasEverySetting(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../docs/configuration.md"))(t)
	rows := map[string]bool{}
	for line := range strings.SplitSeq(string(text), "\n") {
		if strings.Contains(line, "| `COUNTERSIGN_") {
			rows[line] = true
		}
	}
	for _, l := range []locationFlags{storeLocation, addonLocation} {
		for _, s := range l.settings(newTree()) {
			if want := settingRow(s); !rows[want] {
				t.Errorf("docs/configuration.md lacks the row\n%s", want)
			} else {
				delete(rows, want)
			}
		}
	}
	for row := range rows {
		t.Errorf("docs/configuration.md has a row of no setting\n%s", row)
	}
}

// flagsWithVariables calls fn for each flag whose help names a variable.
func flagsWithVariables(c *cobra.Command, fn func(flag, variable string)) {
	for _, set := range []*pflag.FlagSet{c.PersistentFlags(), c.LocalNonPersistentFlags()} {
		eachFlag(set, func(flag, usage string) {
			for _, name := range ourName.FindAllString(usage, -1) {
				fn(flag, strings.TrimSuffix(name, "_FILE"))
			}
		})
	}
	for _, sub := range c.Commands() {
		flagsWithVariables(sub, fn)
	}
}

// The text of a page names commands too, as in `countersign store key list`.
func TestTheManualsNameCommandsThatExist(t *testing.T) {
	t.Parallel()
	pages := must.Get(filepath.Glob("../../docs/*.md"))(t)
	named := regexp.MustCompile("`countersign ([^`]+)`")
	for _, page := range append(pages, "../../README.md", "../../SECURITY.md", "../../CONTRIBUTING.md") {
		text := must.Get(os.ReadFile(page))(t)
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(strings.NewReplacer("'", "", `"`, "", "…", "").Replace(m[1]))
			if i := slices.Index(words, "--"); i >= 0 { // what follows is an argument
				words = words[:i]
			}
			if r := command(t, t.TempDir(), append(words, "--help")...); r.code != 0 {
				t.Errorf("%s: countersign %s: %s", filepath.Base(page), m[1], r.err)
			}
		}
	}
}
