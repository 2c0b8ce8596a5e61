package countersign_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/addon/sample"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// The ports that pages name, and on which the test has servers at others.
const (
	storePort = "8080"
	addonPort = "8081"
)

// reader is somebody who follows a page, with a folder of their own. Servers take a
// free port, and the addresses in later blocks change with it.
type reader struct {
	t        *testing.T
	page     string
	programs programs
	dir      string // where blocks are run, unless they change the folder
	state    string // a script: variables and folder as the last block left them
	home     string // has curl's configuration
	// addresses has the server at each port that the page names; stop ends it.
	addresses map[string]string
	stop      map[string]func()
	setup     string // the link that an addon printed for the first administrator
	// outside leads to the sites of a page, which a web server on this machine has.
	outside *http.Transport
	output  string // what the last block printed
	skipped bool   // the last block needs a program that is not installed
}

// programs are folders of programs.
type programs struct {
	real    string // has countersign
	lookups string // has programs of all names, which only check how they are called
}

func newPrograms(t *testing.T) programs {
	t.Helper()
	must.Do(t, buildProgram())
	p := programs{programFolder, t.TempDir()}
	p.writeLookups(t)
	return p
}

// serviceAccount is the file of all readers: its key takes a while.
var serviceAccount = sync.OnceValues(sample.ServiceAccount)

func newReader(t *testing.T, page string, p programs) *reader {
	t.Helper()
	r := &reader{t: t, page: page, programs: p, dir: t.TempDir(), home: t.TempDir(), addresses: map[string]string{}, stop: map[string]func(){}}
	r.state = filepath.Join(r.home, "state.sh")
	r.write(r.state, "cd '"+r.dir+"'\n")
	r.write(filepath.Join(r.home, ".curlrc"), "silent\nshow-error\nfail-with-body\n")
	account := must.Get(serviceAccount())(t)
	r.write("service-account.json", string(account)) // readers get theirs from the app store
	return r
}

// write writes a file of the reader.
func (r *reader) write(name, text string) {
	r.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.dir, filepath.Base(name))
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

var (
	// served finds a last line that starts a server, and what kind of one.
	served = regexp.MustCompile(`(?m)^(?:countersign|go run \./cmd/countersign) (demo|store serve|addon serve)\b[^\n]*\n\z`)
	listen = regexp.MustCompile(`--(listen|addon-listen|metrics)[ =]\S+`)
	dbURL  = regexp.MustCompile(`'?postgres://[^'\s]+'?`)
)

// runWith runs a block that needs a program, or skips it without that.
func (r *reader) runWith(program, text string) {
	r.t.Helper()
	r.skipped = program != ""
	if program == "" {
		r.run(text)
		return
	}
	r.t.Run(program, func(t *testing.T) {
		dbtest.NeedProgram(t, program)
		r.skipped = false
		r.run(text)
	})
}

// run runs a block. One that ends with a server runs until the server answers. One on
// PostgreSQL gets a database of the test's own, or is skipped without PostgreSQL.
func (r *reader) run(text string) {
	r.t.Helper()
	if !dbURL.MatchString(text) {
		r.runHere(text)
		return
	}
	r.t.Run("PostgreSQL", func(t *testing.T) {
		other := *r
		other.t, other.addresses, other.stop = t, map[string]string{}, map[string]func(){}
		other.runHere(dbURL.ReplaceAllString(text, "'"+dbtest.New(t, dbtest.Postgres).URL+"'"))
	})
}

func (r *reader) runHere(text string) {
	r.t.Helper()
	for port, address := range r.addresses {
		text = strings.ReplaceAll(text, "http://127.0.0.1:"+port, address)
	}
	text = strings.ReplaceAll(text, "\\\n", " ") // one line for each command
	m := served.FindStringSubmatchIndex(text)
	if m == nil {
		r.output = r.shell(text)
		return
	}
	if before := text[:m[0]]; before != "" {
		r.shell(before)
	}
	r.serve(text[m[2]:m[3]], listen.ReplaceAllString(strings.TrimSpace(text[m[0]:]), ""))
}

// command prepares a script that begins where the last one ended. Blocks that build the
// program run in its source.
func (r *reader) command(path, script string, env ...string) *exec.Cmd {
	c := exec.CommandContext(r.t.Context(), "sh", "-ec", script)
	c.Dir = "."
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "COUNTERSIGN_") }),
		"PATH="+path, "GOBIN="+r.programs.real, "CURL_HOME="+r.home, "GOPROXY=off", "https_proxy=http://127.0.0.1:9", "http_proxy=http://127.0.0.1:9", "no_proxy=127.0.0.1,.example",
		"COUNTERSIGN_CONFIG=none", "COUNTERSIGN_ADDON_CONFIG=none") // files of this machine are not the reader's
	c.Env = append(c.Env, env...)
	return c
}

func (r *reader) path() string {
	return r.programs.real + string(os.PathListSeparator) + os.Getenv("PATH")
}

// begin returns the script that comes before a block.
func (r *reader) begin(text string) string {
	if strings.HasPrefix(text, "go ") {
		return ""
	}
	return "set -a; . '" + r.state + "'\n"
}

// shell runs a block, keeps its variables and its folder for the next, and returns what
// it printed.
func (r *reader) shell(text string, env ...string) string {
	r.t.Helper()
	end := "\n{ export -p; echo \"cd '$PWD'\"; } >'" + r.state + "'\n"
	if strings.HasPrefix(text, "go ") {
		end = ""
	}
	out, err := r.command(r.path(), r.begin(text)+text+end, env...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %s\n%v\n%s", r.page, text, err, out)
	}
	return string(out)
}

// serve starts a server in place of one that has its port, and waits until it answers.
// It ends with the test.
func (r *reader) serve(kind, text string) {
	r.t.Helper()
	port, flags := storePort, " --listen 127.0.0.1:0 --json"
	switch kind {
	case "demo":
		flags += " --addon-listen 127.0.0.1:0"
	case "addon serve":
		port = addonPort
	}
	if stop := r.stop[port]; stop != nil {
		stop()
	}
	said, stop := r.start(r.begin(text) + "exec " + text + flags)
	for port, address := range map[string]string{storePort: said["store_url"], addonPort: said["addon_url"]} {
		if address != "" {
			r.addresses[port], r.stop[port] = address, stop
			if status, body := r.get(address + "/readyz"); status != http.StatusOK {
				r.t.Errorf("%s: %s: /readyz answers %d %s", r.page, text, status, body)
			}
		}
	}
	r.setup = said["setup_url"]
}

// start starts a server and returns what it says in the JSON of its first line.
func (r *reader) start(script string) (said map[string]string, stop func()) {
	r.t.Helper()
	c := r.command(r.path(), script)
	end := sync.OnceFunc(endWithItsChildren(c)) // a second signal would end a demo before it has removed its folder
	c.Cancel = func() error {
		end()
		return nil
	}
	var talk bytes.Buffer
	c.Stderr = &talk
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadBytes('\n')
	stop = sync.OnceFunc(func() {
		end()
		_ = c.Wait()
	})
	r.t.Cleanup(stop)
	if err := json.Unmarshal(line, &said); err != nil {
		stop()
		r.t.Fatalf("%s: %s\nended without an address:\n%s%s", r.page, script, line, talk.String())
	}
	return said, stop
}

func (r *reader) get(url string) (status int, body string) {
	r.t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// compare holds what a page prints to what the block before it printed.
func (r *reader) compare(b fence) {
	r.t.Helper()
	switch {
	case r.skipped:
	case b.language == "json" && strings.Contains(b.text, "…"):
		r.compareMembers(b.text)
	case b.language == "json":
		var want bytes.Buffer
		if err := json.Compact(&want, []byte(b.text)); err != nil {
			r.t.Fatal(err)
		}
		if r.output != want.String() {
			r.t.Errorf("%s prints\n%s\nand the answer is\n%s", r.page, want.String(), r.output)
		}
	default:
		pattern := strings.ReplaceAll(regexp.QuoteMeta(spaced(b.text)), "…", "(?s:.*)")
		if !regexp.MustCompile(`\A` + pattern + `\z`).MatchString(spaced(r.output)) {
			r.t.Errorf("%s prints\n%s\nand the block\n%s", r.page, b.text, r.output)
		}
	}
}

// spaced is a text without the spaces that align columns.
func spaced(text string) string {
	return strings.TrimSpace(regexp.MustCompile(`[ \t]+`).ReplaceAllString(text, " "))
}

// compareMembers compares the members that a page prints, but for values with "…".
func (r *reader) compareMembers(printed string) {
	r.t.Helper()
	members := regexp.MustCompile(`"\w+": ?("[^"…]*"|[\w.]+)`).FindAllString(printed, -1)
	if len(members) < 2 {
		r.t.Errorf("%s prints only %d members of the answer", r.page, len(members))
	}
	for _, m := range members {
		name, value, _ := strings.Cut(m, ":")
		if !strings.Contains(r.output, name+":"+strings.TrimSpace(value)) {
			r.t.Errorf("%s prints %s, and the answer is\n%s", r.page, m, r.output)
		}
	}
}

// elsewhere lists the programs of blocks that are not run here.
var elsewhere = strings.Fields("a2dissite a2enmod a2ensite adduser apachectl apt-get caddy cat chmod chown cp curl date df dnf docker du fuser git head install journalctl ln mkdir nginx openssl pg_dump php rm scp sh sha256sum ss ssh sudoedit systemctl tee tr useradd")

// writeLookups writes a program for every name that blocks may call. It succeeds without
// doing anything; those of ours only when the command and its flags exist.
func (p programs) writeLookups(t *testing.T) {
	t.Helper()
	source := must.Get(os.Getwd())(t)
	scripts := map[string]string{
		"countersign": `exec '` + filepath.Join(p.real, "countersign") + `' "$@" --help >/dev/null`,
		"sudo":        `while :; do case $1 in -u) shift 2 ;; -*|*=*) shift ;; *) break ;; esac; done; exec "$@"`,
		"make":        `[ "$1" != -C ] || shift 2; grep -q "^$1:" '` + source + `/Makefile'`,
		"go":          `case $1 in run|install) [ -d "` + source + `/$2" ] ;; test) ;; *) exit 1 ;; esac`,
	}
	for _, name := range elsewhere {
		scripts[name] = "exit 0"
	}
	scripts["grep"] = `PATH=` + os.Getenv("PATH") + ` exec grep "$@"`
	for name, script := range scripts {
		must.Do(t, os.WriteFile(filepath.Join(p.lookups, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
}

// lookUp checks that all programs of a block exist, with their flags, and runs none.
func (r *reader) lookUp(text string) {
	r.t.Helper()
	c := r.command(r.programs.lookups, fmt.Sprintf("cd '%s'\n%s", r.dir, text))
	if out, err := c.CombinedOutput(); err != nil {
		r.t.Errorf("%s: %s\n%v\n%s", r.page, text, err, out)
	}
}
