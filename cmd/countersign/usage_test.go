package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/expect"
	"github.com/spf13/cobra"
)

func TestWrongUsageIsOneLineAndExit2(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args string
		want string // part of the line
	}{
		{"an unknown command", "bogus", `unknown command "bogus" for "countersign"; see: countersign --help`},
		{"a mistyped command gets a suggestion", "stoer", "did you mean store?"},
		{"a mistyped command further down", "store purchase chekc", "did you mean check?"},
		{"an unknown command further down", "store key bogus", `unknown command "bogus" for "countersign store key"`},
		{"help for an unknown command", "help bogus", `unknown command "bogus"`},
		{"an unknown flag", "store export --bogus", "unknown flag --bogus; see: countersign store export --help"},
		{"a mistyped flag gets a suggestion", "store serve --lisen :1", "did you mean --listen?"},
		{"an unknown short flag", "version -z", "unknown flag -z; see:"},
		{"a flag without its value", "store export --data", "--data"},
		{"an argument too few", "store purchase check", "expected one purchase code, got 0"},
		{"an argument too many", "store purchase check a b", "expected one purchase code, got 2"},
		{"an argument where none belongs", "store export x", `unexpected argument "x"`},
		{"an invalid id", "store key reveal x", `invalid id "x" of the key`},
		{"an id below 1", "store item show 0", `invalid id "0" of the item`},
		{"a missing --workspace says where to look it up", "store key create web", "--workspace is missing (list them with: countersign store workspace list)"},
		{"a missing --item", "store purchase create --workspace ada", "--item is missing"},
		{"a publishable key without its item", "store key create web --workspace ada --publishable", "name it with --item"},
		{"a secret key with an item", "store key create web --workspace ada --item 3", "add --publishable"},
		{"an invalid date", "store key set 1 --expires tomorrow", `--expires: invalid date "tomorrow"`},
		{"a key that would be born expired", "store key create web --workspace ada --expires 2020-01-01", "--expires is in the past"},
		{"key set without a flag", "store key set 1", "--expires is missing"},
		{"a negative overlap", "store key rotate 1 --overlap -1h", "--overlap can't be negative"},
		{"an invalid length of time", "store key rotate 1 --overlap day", `invalid value "day": expected a length of time`},
		{"an invalid amount", "store purchase create --workspace ada --item 1 --price 1.234", `--price: invalid amount "1.234"`},
		{"an invalid license", "store purchase create --workspace ada --item 1 --license Big", `invalid value "Big": use Regular, Extended`},
		{"a currency without a price", "store purchase create --workspace ada --item 1 --currency EUR", "--currency needs --price"},
		{"an invalid state", "store purchase list --workspace ada --state gone", "use active, refunded, charged_back, revoked"},
		{"an invalid switch", "store workspace set ada --always-200=maybe", `invalid value "maybe": expected true or false`},
		{"workspace set without a flag", "store workspace set ada", "nothing to set"},
		{"a social link without a name", "store workspace set ada --social-link https://x.example", "name=URL"},
		{"a member without a role", "store member add grace@shop.example --workspace ada", "--role is missing"},
		{"an invalid role", "store member set grace@shop.example --workspace ada --role boss", `--role: invalid value "boss": use viewer, manager, owner`},
		{"a member of no workspace", "store member list", "--workspace is missing (list them with: countersign store workspace list)"},
		{"a user without an e-mail", "store user remove", "expected one e-mail, got 0"},
		{"an invalid address of the pages", "store setup-link --base-url shop.example", "--base-url: invalid web address"},
		{"a database URL of another engine", "store export --db mysql://u:secret@h/d", "--db is not a URL of the form postgres://"},
		{"demo does not take a store", "demo --db postgres://h/d", "a demo uses its own data folder"},
		{"demo with an invalid address", "demo --listen 8080", `invalid address "8080"`},
		{"demo names both addresses", "demo --listen 8080 --addon-listen 8081", `--addon-listen: invalid address "8081"`},
		{"an addon's command without its arguments", "addon settings set appName", "expected a key and a value, got 1 argument"},
		{"an invalid pair's id", "addon api rotate x", `invalid id "x" of the API credential`},
		{"a mistyped addon command", "addon setings list", "did you mean settings?"},
		{"a doctor with another engine", "doctor --addon-db mysql://u:secret@h/d", "--addon-db is not a URL of the form postgres://"},
		{"an argument that looks like a flag", "addon settings set appName --other=1", "unknown flag --other; write -- before an argument that begins with -"},
		{"a code that looks like short flags", "store purchase check -7c0f", "unknown flag -7; write -- before an argument that begins with -"},
		{"a code that begins as a flag does", "store purchase check -q7c0f", "unknown flag -7; write -- before an argument that begins with -"},
		{"a code that begins as the flag for help does", "store purchase check -h7c0f", "unknown flag -7; write -- before an argument that begins with -"},
		{"a code of hyphens", "store purchase check ---7c0f", "unknown flag; write -- before an argument that begins with -"},
		{"an id below 0", "store key reveal -5", "unknown flag -5; write -- before an argument that begins with -"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := command(t, t.TempDir(), strings.Fields(tt.args)...)
			if r.code != cli.ExitUsage || r.out != "" {
				t.Errorf("exit %d, stdout %q", r.code, r.out)
			}
			if !strings.HasPrefix(r.err, "countersign: error: ") || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, tt.want) {
				t.Errorf("stderr %q, want one line with %q", r.err, tt.want)
			}
			if strings.Contains(r.err, "secret") {
				t.Errorf("stderr repeats a password: %q", r.err)
			}
		})
	}
}

func TestServeNamesAllWrongFlagsAtOnce(t *testing.T) {
	t.Parallel()
	r := command(t, t.TempDir(), "store", "serve", "--listen", "8080", "--base-url", "shop.example", "--trusted-proxy", "10.0.0.0/99",
		"--log", "loud", "--fail-limit", "-1", "--idle-timeout", "0s", "--metrics", "x", "--cache", "much", "--upload-quota", "much")
	expect.Equalf(t, r.code, cli.ExitUsage, "exit")
	for _, flag := range []string{"--listen: ", "--base-url: ", "--trusted-proxy: ", "--log: ", "--fail-limit: ", "--idle-timeout: ", "--metrics: ", "--cache: ", "--upload-quota: "} {
		if !strings.Contains(r.err, flag) {
			t.Errorf("%q does not name %s", r.err, flag)
		}
	}
}

func TestWrongUsageTouchesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/data"
	command(t, dir, "store", "key", "create", "web")
	command(t, dir, "store", "serve", "--log", "loud")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data folder was made: %v", err)
	}
}

func TestAGroupAloneIsWrongUsage(t *testing.T) {
	t.Parallel()
	root := newRoot(&app{Console: cli.New(os.LookupEnv, strings.NewReader(""), io.Discard, io.Discard)})
	root.InitDefaultCompletionCmd()
	groups := 0
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if !c.HasSubCommands() {
			return
		}
		groups++
		r := command(t, t.TempDir(), strings.Fields(c.CommandPath())[1:]...)
		if r.code != cli.ExitUsage || r.out != "" || !strings.Contains(r.err, "expected a command: ") || !strings.Contains(r.err, c.CommandPath()+" --help") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.CommandPath(), r.code, r.out, r.err)
		}
		for _, below := range c.Commands() {
			check(below)
		}
	}
	check(root)
	if groups < 20 {
		t.Errorf("%d groups", groups)
	}
}

func TestHelpIsShownWhereItIsAsked(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"help"}, {"store", "key", "-h"}, {"help", "store", "key"}} {
		if r := command(t, t.TempDir(), args...); r.code != 0 || !strings.Contains(r.out, "Available Commands:") || r.err != "" {
			t.Errorf("countersign %v: exit %d, stdout %q, stderr %q", args, r.code, r.out, r.err)
		}
	}
}

func TestErrorsAreJSONWithJSON(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"a mistyped flag before --json": {"store", "export", "--bogus", "--json"},
		"an unknown command":            {"--json", "bogus"},
		"a thing that is not there":     {"store", "workspace", "show", "nobody", "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			r := command(t, t.TempDir(), args...)
			var got struct{ Error, Code string }
			if err := json.Unmarshal([]byte(r.err), &got); err != nil || got.Error == "" || got.Code == "" {
				t.Errorf("stderr %q: %+v, %v", r.err, got, err)
			}
		})
	}
}

func TestVersionAndCompletionPrintOnStdout(t *testing.T) {
	t.Parallel()
	if r := command(t, "", "version", "--json"); r.code != 0 || !json.Valid([]byte(r.out)) || !strings.Contains(r.out, `"go":"go1.`) {
		t.Errorf("version: exit %d, %q", r.code, r.out)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := command(t, "", "completion", shell); r.code != 0 || !strings.Contains(r.out, "countersign") || r.err != "" {
			t.Errorf("completion %s: exit %d, %d bytes, stderr %q", shell, r.code, len(r.out), r.err)
		}
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "512": 512, "512KiB": 512 << 10, "64MiB": 64 << 20, "2GiB": 2 << 30} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "64MB", "64 MiB", "1.5GiB", "MiB", "9223372036854775807GiB"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
}

func TestHelpOffersAStoreOnlyWhereACommandHasOne(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{
		"--help": true, "store --help": true, "doctor --help": true, "addon settings list --help": true,
		"app --help": false, "app start --help": false, "help app check": false, "demo --help": false, "version --help": false,
	} {
		r := command(t, t.TempDir(), strings.Fields(args)...)
		if got := strings.Contains(r.out, "--data folder"); r.code != 0 || got != want {
			t.Errorf("countersign %s: exit %d, --data is offered: %t", args, r.code, got)
		}
	}
}
