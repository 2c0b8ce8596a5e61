package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/addon"
	addonsample "github.com/countersign/countersign/internal/addon/sample"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/rogpeppe/go-internal/testscript"
)

// anyEngine is the first line of a script that runs on SQLite alone. A command does the same on both
// engines once its service is open, and the packages below test on both what it calls. The other
// scripts open, create, migrate, move, back up and serve, or go a long way through a service.
const anyEngine = "# engine: any\n"

// scripts returns all scripts.
func scripts(t *testing.T) []string {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	return files
}

// scriptsFor returns the scripts that run on an engine. Those that start servers take longest and come first.
func scriptsFor(t *testing.T, engine string) (first []string) {
	var others []string
	for _, file := range scripts(t) {
		text := must.Get(os.ReadFile(file))(t)
		engines := dbtest.EnginesOf(file)
		if bytes.HasPrefix(text, []byte(anyEngine)) {
			engines = []string{dbtest.SQLite}
		}
		switch {
		case !slices.Contains(engines, engine):
		case bytes.Contains(text, []byte("\nstart ")):
			first = append(first, file)
		default:
			others = append(others, file)
		}
	}
	return append(first, others...)
}

// TestScripts runs testdata/*.txt on the engines of [dbtest.EnginesOf], see [anyEngine]. Beside the commands of
// testscript, scripts have:
//
//	countersign ARGS     run the program in this process; exec countersign starts another one
//	input FILE           what the next countersign reads from stdin
//	use NAME             work on the store of that name; it is empty at first
//	site NAME            work on the addon of that name; nothing is there at first
//	emptied NAME         take everything out of the database of a store or an addon
//	exits N [NAME=VALUE] countersign ARGS
//	                     the same, with other variables; it must end with exit code N
//	get VARIABLE MEMBER  keep a member of the JSON object on the last stdout
//	sample FILE          write the sample shop with its keys to a file
//	spoil DATA DB SQL    run a statement on the database in the folder and at the URL
//	                     that two variables name, as somebody with access to it could
//	account FILE         write a service account to a file
//	start COMMAND        run countersign COMMAND --json --listen 127.0.0.1:0 in the
//	                     background; members of its first line become variables
//	launch COMMAND       start it as a process
//	quit [TERM]          end it; a process by Ctrl-C, or by SIGTERM; it must end with exit code 0; prints its stderr
//	validate KEY CODE    ask the started store; prints status, X-Error-Code and body
//	await KEY CODE WANT  validate until the answer matches
//	fetch PATH [WANT]    ask the started addon, until the answer matches where WANT is
//	                     given; prints status, headers and body
func TestScripts(t *testing.T) {
	t.Parallel()
	dbtest.Both(t, func(t *testing.T, db dbtest.DB) {
		testscript.Run(t, testscript.Params{
			Files:              scriptsFor(t, db.Engine),
			RequireUniqueNames: true,
			Setup: func(env *testscript.Env) error {
				env.Values[scriptKey{}] = &script{t: env.T().(testing.TB), engine: db.Engine, urls: map[string]string{}}
				env.Setenv(envConfig, noConfig) // files of this machine are not those of a script
				env.Setenv(envAddonConfig, noConfig)
				env.Setenv("GORACE", "atexit_sleep_ms=0") // with -race, every process would wait a second at its end
				return nil
			},
			Condition: func(name string) (bool, error) {
				return name == db.Engine, nil
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				program: succeed, "input": setInput, "use": use, "exits": exits, "get": get, "sample": writeSample, "start": start, "launch": launch, "quit": quit, "validate": validate, "await": await,
				"emptied": emptied, "site": useSite, "fetch": fetchAddon, "account": writeAccount, "spoil": spoil,
			},
		})
	})
}

// The command stop of testscript ends a script, and what follows is not run.
func TestNoScriptEndsEarly(t *testing.T) {
	early := regexp.MustCompile(`(?m)^(\[.*\] )?stop\b`)
	for _, file := range scripts(t) {
		text := must.Get(os.ReadFile(file))(t)
		if early.Match(text) {
			t.Errorf("%s has the command stop; a server is ended by quit", file)
		}
	}
}

// script is what one script has to remember.
type script struct {
	t      testing.TB
	engine string
	urls   map[string]string // of PostgreSQL databases, by the names of stores and addons
	input  string            // of the next command
	// quit ends the started server and returns its stderr.
	quit func(terminate bool) (stderr string, err error)
}

type scriptKey struct{}

func scriptOf(ts *testscript.TestScript) *script { return ts.Value(scriptKey{}).(*script) }

func use(ts *testscript.TestScript, _ bool, args []string) {
	s, name := scriptOf(ts), args[0]
	if _, ok := s.urls[name]; !ok {
		s.urls[name] = dbtest.New(s.t, s.engine).URL
	}
	ts.Setenv(envData, ts.MkAbs(name))
	setDB(ts, envDB, s.urls[name])
}

func useSite(ts *testscript.TestScript, _ bool, args []string) {
	s, name := scriptOf(ts), "addon "+args[0]
	if _, ok := s.urls[name]; !ok {
		s.urls[name] = dbtest.New(s.t, s.engine).URL
	}
	ts.Setenv(envAddonData, ts.MkAbs(args[0]))
	setDB(ts, envAddonDB, s.urls[name])
}

// setDB sets the variable of a database on PostgreSQL. On SQLite it stays unset: an
// empty one is an error.
func setDB(ts *testscript.TestScript, variable, url string) {
	if url != "" {
		ts.Setenv(variable, url)
	}
}

func emptied(ts *testscript.TestScript, _ bool, args []string) {
	s := scriptOf(ts)
	for name, file := range map[string]string{args[0]: "store.db", "addon " + args[0]: "addon.db"} {
		url, there := s.urls[name]
		switch {
		case there && url != "":
			dbtest.DB{URL: url}.Clear(s.t)
		case there:
			ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), file), nil, 0o600))
		}
	}
}

// runProgram runs the program in this process, in the folder and the environment of the script.
// variables take the place of those; an empty one is not set.
func runProgram(ts *testscript.TestScript, variables environment, args []string) (code int) {
	s := scriptOf(ts)
	lookup := func(name string) (string, bool) {
		value, ok := variables[name]
		if !ok {
			value = ts.Getenv(name)
		}
		return value, value != ""
	}
	a := &app{Console: cli.New(lookup, strings.NewReader(s.input), ts.Stdout(), ts.Stderr())}
	a.Dir, s.input = ts.MkAbs("."), ""
	return a.execute(s.t.Context(), args)
}

func succeed(ts *testscript.TestScript, neg bool, args []string) {
	if code := runProgram(ts, nil, args); (code == 0) == neg {
		ts.Fatalf("exit code %d", code)
	}
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	at := slices.Index(args, program)
	if at < 0 {
		ts.Fatalf("exits runs %s alone", program)
	}
	variables := environment{}
	for _, given := range args[1:at] {
		name, value, _ := strings.Cut(given, "=")
		variables[name] = value
	}
	if code := runProgram(ts, variables, args[at+1:]); code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

func setInput(ts *testscript.TestScript, _ bool, args []string) {
	scriptOf(ts).input = ts.ReadFile(args[0])
}

func get(ts *testscript.TestScript, _ bool, args []string) {
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &object))
	value, ok := object[args[1]]
	if !ok {
		ts.Fatalf("there is no member %q", args[1])
	}
	ts.Setenv(args[0], fmt.Sprint(value))
}

func writeSample(ts *testscript.TestScript, _ bool, args []string) {
	lines, err := io.ReadAll(sample.Reader(sample.Options{Keys: true}))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), lines, 0o600))
}

func writeAccount(ts *testscript.TestScript, _ bool, args []string) {
	file, err := addonsample.ServiceAccount()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), file, 0o600))
}

func spoil(ts *testscript.TestScript, _ bool, args []string) {
	name := store.Product.DatabaseName()
	if args[0] == envAddonData {
		name = addon.Product.DatabaseName()
	}
	db, err := sqldb.Open(context.Background(), sqldb.Options{URL: ts.Getenv(args[1]), Path: filepath.Join(ts.Getenv(args[0]), name)})
	ts.Check(err)
	defer db.Close()
	_, err = db.Queries().Exec(context.Background(), args[2])
	ts.Check(err)
}

// environmentOf returns the variables of a script that a server reads.
func environmentOf(ts *testscript.TestScript) environment {
	env := environment{}
	for _, name := range []string{envConfig, envAddonConfig, envData, envDB, envAddonData, envAddonDB, envAddonURL, envAdminEmail, envAdminPassword + "_FILE",
		envStoreAdminEmail, envStoreAdminPassword + "_FILE", envRequestLog, "HOME", "TMPDIR", "GORACE"} {
		env[name] = ts.Getenv(name)
	}
	return env
}

func start(ts *testscript.TestScript, _ bool, args []string) {
	s := scriptOf(ts)
	server := startServerIn(s.t, ts.MkAbs("."), environmentOf(ts), args...)
	ts.Defer(server.end)
	go io.Copy(io.Discard, server.stdout) //nolint:errcheck // what it prints later
	s.quit = func(bool) (string, error) {
		if code := server.stop(); code != 0 {
			return server.stderr.String(), fmt.Errorf("exit code %d", code)
		}
		return server.stderr.String(), nil
	}
	setSaid(ts, server.said)
}

func launch(ts *testscript.TestScript, _ bool, args []string) {
	s := scriptOf(ts)
	server := exec.Command(programPath(ts), append(args, "--json", "--listen", "127.0.0.1:0")...)
	server.Dir = ts.MkAbs(".")
	for name, value := range environmentOf(ts) {
		if value != "" {
			server.Env = append(server.Env, name+"="+value)
		}
	}
	var stderr bytes.Buffer
	server.Stderr = &stderr
	stdout, err := server.StdoutPipe()
	ts.Check(err)
	ts.Check(server.Start())
	ts.Defer(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = server.Wait()
		ts.Fatalf("it did not start: %s", stderr.String())
	}
	s.quit = func(terminate bool) (string, error) {
		signal := os.Interrupt
		if terminate {
			signal = syscall.SIGTERM
		}
		err := errors.Join(server.Process.Signal(signal), server.Wait())
		return stderr.String(), err
	}
	var said map[string]string
	ts.Check(json.Unmarshal([]byte(line), &said))
	setSaid(ts, said)
}

func setSaid(ts *testscript.TestScript, said map[string]string) {
	for member, value := range said {
		ts.Setenv(strings.ToUpper(member), value)
	}
}

// programPath finds the program in PATH.
func programPath(ts *testscript.TestScript) string {
	path, err := exec.LookPath(program)
	ts.Check(err)
	return path
}

func quit(ts *testscript.TestScript, _ bool, args []string) {
	stderr, err := scriptOf(ts).quit(len(args) > 0)
	fmt.Fprint(ts.Stderr(), stderr)
	ts.Check(err)
}

func validate(ts *testscript.TestScript, _ bool, args []string) {
	answer, err := ask(ts.Getenv("STORE_URL"), args[0], args[1])
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), answer)
}

func await(ts *testscript.TestScript, _ bool, args []string) {
	want, err := regexp.Compile(args[2])
	ts.Check(err)
	answer := ""
	for range 12_000 { // a minute, where a second is enough
		answer, err = ask(ts.Getenv("STORE_URL"), args[0], args[1])
		ts.Check(err)
		if want.MatchString(answer) {
			return
		}
		dbtest.Again(scriptOf(ts).t)
	}
	ts.Fatalf("the answer stays %s", answer)
}

func ask(store, key, code string) (answer string, err error) {
	form := url.Values{"api_key": {key}, "purchase_code": {code}}
	r, err := http.PostForm(store+"/api/purchases/validation", form)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	return fmt.Sprintf("%d %s\n%s\n", r.StatusCode, r.Header.Get("X-Error-Code"), body), err
}

func fetchAddon(ts *testscript.TestScript, _ bool, args []string) {
	want, err := regexp.Compile(strings.Join(args[1:], ""))
	ts.Check(err)
	answer := ""
	for range 12_000 { // a minute, where a second is enough
		answer, err = read(ts.Getenv("ADDON_URL") + args[0])
		ts.Check(err)
		if want.MatchString(answer) {
			fmt.Fprint(ts.Stdout(), answer)
			return
		}
		dbtest.Again(scriptOf(ts).t)
	}
	ts.Fatalf("the answer stays %s", answer)
}

// read asks for a page or a JSON document.
func read(url string) (answer string, err error) {
	r, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", r.StatusCode)
	err = r.Header.Write(&b)
	if err == nil {
		_, err = io.Copy(&b, r.Body)
	}
	return b.String() + "\n", err
}
