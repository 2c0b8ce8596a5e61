package countersign_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

// block is a fenced block of README.md.
type block struct{ language, text string }

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(readme), -1) {
		blocks = append(blocks, block{m[1], m[2]})
	}
	return blocks
}

// readme runs the shell blocks of README.md as somebody who follows it would,
// with three words changed: servers take a free port, their address in later
// blocks is changed with it, and PostgreSQL is the tests' own.
type readme struct {
	t      *testing.T
	bin    string // a folder in front of PATH
	dir    string // where the store's blocks are run
	demo   string // the address of the demo's store while it runs
	addon  string // the address of the addon while it runs
	answer string // what the last curl printed
}

func TestReadme(t *testing.T) {
	dbtest.Long(t)
	dbtest.NeedProgram(t, "sh")
	dbtest.NeedProgram(t, "curl")
	r := &readme{t: t, bin: t.TempDir(), dir: t.TempDir()}
	blocks := readmeBlocks(t)
	for _, b := range blocks {
		if b.language == "jsonl" {
			r.write("shop.jsonl", b.text)
		}
	}
	ran := 0
	for _, b := range blocks {
		switch b.language {
		case "sh":
			r.run(b.text)
			ran++
		case "json":
			r.compare(b.text)
		}
	}
	if ran != 11 {
		t.Errorf("ran %d shell blocks, want 11", ran)
	}
}

func (r *readme) write(name, text string) {
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// run runs a block. The tests are under way already, so they are not started
// again; a block that ends with a server runs until the server answers.
func (r *readme) run(text string) {
	switch {
	case strings.HasPrefix(text, "go test"):
		if text != "go test ./...\n" {
			r.t.Errorf("the tests are started by %q", text)
		}
	case strings.HasPrefix(text, "go run ./cmd/countersign demo"):
		r.demo = r.serve(".", strings.TrimSpace(text)+" --listen 127.0.0.1:0 --addon-listen 127.0.0.1:0")
	case strings.HasPrefix(text, "curl"):
		r.answer = r.shell(".", strings.NewReplacer("http://127.0.0.1:8080", r.demo, "http://127.0.0.1:8081", r.addon).Replace(text))
	case strings.HasPrefix(text, "go install"):
		r.shell(".", text)
	case strings.Contains(text, "--db"):
		db := dbtest.New(r.t, dbtest.Postgres)
		r.serve(r.t.TempDir(), strings.Replace(strings.TrimSpace(text), "postgres://user@host:5432/name", "'"+db.URL+"'", 1)+" --listen 127.0.0.1:0")
	case strings.HasPrefix(text, "countersign doctor"):
		r.shell(r.dir, text)
	case strings.HasPrefix(text, "countersign addon serve"):
		r.addon = r.serve(r.dir, strings.TrimSpace(text)+" --listen 127.0.0.1:0")
	case strings.HasPrefix(text, "countersign addon"):
		r.shell(r.dir, text)
	default:
		lines := strings.Split(strings.TrimSpace(text), "\n")
		last := len(lines) - 1
		r.shell(r.dir, strings.Join(lines[:last], "\n"))
		r.serve(r.dir, lines[last]+" --listen 127.0.0.1:0")
	}
}

func (r *readme) command(dir, text string) *exec.Cmd {
	c := exec.CommandContext(r.t.Context(), "sh", "-ec", text)
	c.Dir = dir
	path := r.bin + string(os.PathListSeparator) + os.Getenv("PATH")
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "COUNTERSIGN_") }), "PATH="+path, "GOBIN="+r.bin)
	return c
}

func (r *readme) shell(dir, text string) string {
	c := r.command(dir, text)
	var talk bytes.Buffer
	c.Stderr = &talk
	out, err := c.Output()
	if err != nil {
		r.t.Fatalf("%s\n%v\n%s", text, err, talk.String())
	}
	return string(out)
}

// serve starts a server, waits until it says where it listens, sees that it
// answers, and returns its address. It ends with the test.
func (r *readme) serve(dir, text string) string {
	c := r.command(dir, "exec "+text)
	out, in := io.Pipe()
	c.Stdout, c.Stderr = in, in
	stop := endWithItsChildren(c)
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		_ = in.Close()
		close(ended)
	}()
	r.t.Cleanup(func() {
		stop()
		<-ended
	})
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text()); address != "" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			r.ready(address)
			return address
		}
	}
	r.t.Fatalf("%s\nended without an address:\n%s", text, said.String())
	return ""
}

func (r *readme) ready(address string) {
	answer, err := http.Get(address + "/readyz")
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		r.t.Errorf("%s/readyz answers %d", address, answer.StatusCode)
	}
}

// compare holds the answer that README.md prints to the one that curl got. Of one with
// "…" only the members that are printed are compared.
func (r *readme) compare(printed string) {
	if strings.Contains(printed, "…") {
		r.compareMembers(printed)
		return
	}
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(printed)); err != nil {
		r.t.Fatal(err)
	}
	if r.answer != want.String() {
		r.t.Errorf("the answer is\n%s\nand README.md prints\n%s", r.answer, want.String())
	}
}

func (r *readme) compareMembers(printed string) {
	members := regexp.MustCompile(`"\w+": ("[^"]*"|[\w.]+)`).FindAllString(printed, -1)
	if len(members) < 8 {
		r.t.Errorf("README.md prints only %d members of the answer", len(members))
	}
	for _, m := range members {
		name, value, _ := strings.Cut(m, ": ")
		if !strings.Contains(r.answer, name+":"+value) {
			r.t.Errorf("README.md prints %s, and the answer is\n%s", m, r.answer)
		}
	}
}
