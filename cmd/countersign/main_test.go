package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == program {
		main()
	}
	dbtest.Setup()
	if err := flag.Set("test.parallel", "10"); err != nil { // many wait for a server that stops, or for PostgreSQL
		panic(err)
	}
	// A server that stops leaves an open connection a second for a request that is on its way.
	http.DefaultTransport.(*http.Transport).DisableKeepAlives = true
	os.Exit(withProgram(m))
}

// program is the name under which the test binary is the program itself. That of testscript would
// make a process of each command of a script.
const program = "countersign"

// withProgram runs the tests with the program in PATH.
func withProgram(m *testing.M) int {
	binary, err := os.Executable()
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "countersign-program-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(os.Symlink(binary, filepath.Join(dir, program)), os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))); err != nil {
		panic(err)
	}
	return m.Run()
}

// environment is what a run sees in place of os.LookupEnv. A variable without a value
// is not set, as that of a database on SQLite; setEmpty is the value of one that is.
type environment map[string]string

const setEmpty = "\x00"

// lookup finds GOGC, unless it has a value here: a server then leaves the memory of this process alone,
// which is not its own.
func (e environment) lookup(name string) (string, bool) {
	value, there := e[name]
	if name == "GOGC" && !there {
		value = "200"
	}
	return strings.TrimPrefix(value, setEmpty), value != ""
}

// run runs the program once, without the configuration files of this machine.
func run(ctx context.Context, args []string, lookupEnv func(string) (string, bool), stdin io.Reader, stdout, stderr io.Writer) int {
	return (&app{Console: cli.New(lookupEnv, stdin, stdout, stderr)}).execute(ctx, args)
}

// result is what a run left behind.
type result struct {
	code     int
	out, err string
}

// command runs the program once on a data folder, as a script would: no stream
// is a terminal.
func command(t *testing.T, dir string, args ...string) result {
	t.Helper()
	return commandIn(t, environment{envData: dir}, args...)
}

func commandIn(t *testing.T, env environment, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, env.lookup, strings.NewReader(""), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// mustRun is command for the steps that a test stands on.
func mustRun(t *testing.T, dir string, args ...string) result {
	t.Helper()
	r := command(t, dir, args...)
	if r.code != 0 {
		t.Fatalf("countersign %s: exit %d: %s", strings.Join(args, " "), r.code, r.err)
	}
	return r
}

// asPerson runs the program with a person at the terminal who types the input.
func asPerson(t *testing.T, ctx context.Context, dir, input string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := newPerson(dir, strings.NewReader(input), &stdout, &stderr)
	code := a.execute(ctx, args)
	return result{code, stdout.String(), stderr.String()}
}

// newPerson returns a run of the program on a data folder with a person at the terminal.
func newPerson(dir string, stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{Console: cli.New(environment{envData: dir}.lookup, stdin, stdout, stderr)}
	a.Person, a.Now = true, fixedNow
	return a
}
