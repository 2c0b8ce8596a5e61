//go:build linux

package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		only []string
		err  string
	}{
		"none are all scenarios":      {nil, names(), ""},
		"one scenario":                {[]string{"--only", "killed-primary"}, []string{"killed-primary"}, ""},
		"several":                     {[]string{"--only", "killed-primary,pooler"}, []string{"killed-primary", "pooler"}, ""},
		"an unknown one is an error":  {[]string{"--only", "killed"}, nil, `unknown scenario "killed"`},
		"an argument is an error":     {[]string{"pooler"}, nil, `unexpected argument "pooler"`},
		"an unknown flag is an error": {[]string{"--all"}, nil, "not defined"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse(c.args, io.Discard)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || !slices.Equal(o.only, c.only) {
				t.Errorf("%v, error %v", o.only, err)
			}
		})
	}
}

func TestALogThatNamesAPooler(t *testing.T) {
	const said = "The database is behind a connection pooler in transaction mode: use session mode, or connect directly"
	for name, c := range map[string]struct{ log, want string }{
		"by one line of several":      {"starting\n" + said + "\nstopped\n", said},
		"but not what to do":          {"The database is behind a connection pooler in transaction mode\n", ""},
		"that is not named":           {"ERROR: prepared statement \"stmt_1\" already exists\n", ""},
		"nothing":                     {"", ""},
		"in words of different lines": {"a pooler\nsession\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := poolerLine(c.log); got != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}
