package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/store/sample"
)

// shop is a store filled for the measurement.
type shop struct {
	settings settings
	binary   string
	data     string
	baseline *shop // nil without another binary to measure against
}

// listSizes are the sizes of the workspaces for items/all.
var listSizes = []int{10, 1000, 10_000}

func listWorkspace(size int) string { return fmt.Sprintf("list%d", size) }

// prepare builds the binary and fills the store.
func prepare(ctx context.Context, set settings, log io.Writer) (*shop, error) {
	if err := os.MkdirAll(set.out, 0o755); err != nil {
		return nil, err
	}
	if set.baseline != "" {
		var err error
		if set.baseline, err = exec.LookPath(set.baseline); err != nil {
			return nil, fmt.Errorf("--baseline: %w", err)
		}
	}
	s := &shop{settings: set, binary: filepath.Join(set.out, "countersign")}
	s.data = filepath.Join(set.out, fmt.Sprintf("data-%s-%d-%d", set.engine(), set.purchases, set.items))
	if err := program.Build(ctx, s.binary, log); err != nil {
		return nil, err
	}
	if set.baseline != "" {
		return s, s.useBaseline(ctx, log)
	}
	return s, s.fill(ctx, log)
}

// fill imports the shop, unless an earlier run did. The store itself is asked
// whether it has the last purchase, and an import is one transaction: a database on
// a server may be gone while its data folder is still there. A run that takes answers
// back makes all of them good again first.
func (s *shop) fill(ctx context.Context, log io.Writer) error {
	if err := s.command(ctx, "store", "migrate", "up", "--quiet"); err != nil {
		return err
	}
	filled, err := s.has(ctx, sample.BigCode(s.settings.purchases-1))
	if err != nil || (filled && !s.settings.stale) {
		return err
	}
	fmt.Fprintf(log, "filling %s with %d purchases\n", s.data, s.settings.purchases)
	if err := writeLines(s.lines(), s.settings); err != nil {
		return err
	}
	return s.command(ctx, "store", "import", "--quiet", s.lines())
}

// has reports whether the store takes a code for good.
func (s *shop) has(ctx context.Context, code string) (bool, error) {
	const no = 4
	err := s.command(ctx, "store", "purchase", "check", code)
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == no {
		return false, nil
	}
	return err == nil, err
}

// lines is the path of the shop as import lines; a peer is filled from it, too.
func (s *shop) lines() string { return filepath.Join(s.data, "lines.jsonl") }

func writeLines(path string, set settings) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, sample.Big(set.items, set.purchases))
	for _, size := range listSizes {
		w := listWorkspace(size)
		_, err2 := fmt.Fprintf(f, `{"type":"workspace","username":%q,"name":{"firstname":"A","lastname":"B"},"currency":"USD","registered_at":"2024-04-27T12:00:00Z"}`+"\n"+
			`{"type":"key","workspace":%[1]q,"name":"web","key":%[2]q}`+"\n", w, sample.SecretKey(w))
		err = errors.Join(err, err2)
		for i := range size {
			id := 500_000_000 + size*100 + i
			_, err2 := fmt.Fprintf(f, `{"type":"item","workspace":%q,"id":%d,"kind":"other","name":"Item %d","description":%q,"version":"1.0.0",`+
				`"media":{"thumbnail":"https://cdn.example/%[2]d.png"},"price":{"regular":49.00,"extended":199.00},"currency":"USD","published_at":"2024-04-27T12:00:00Z"}`+"\n",
				w, id, i, strings.Repeat("A thing worth having. ", 25))
			err = errors.Join(err, err2)
		}
	}
	return errors.Join(err, f.Close())
}

func (s *shop) flags() []string {
	flags := []string{"--data", s.data}
	if s.settings.database != "" {
		flags = append(flags, "--db", s.settings.database)
	}
	return flags
}

// command runs a command on the store's data.
func (s *shop) command(ctx context.Context, args ...string) error {
	_, err := s.program(ctx, append(args, s.flags()...)...)
	return err
}

// program runs the program and returns what it printed.
func (s *shop) program(ctx context.Context, args ...string) (stdout []byte, err error) {
	c := exec.CommandContext(ctx, s.binary, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err = c.Output()
	if err != nil {
		err = fmt.Errorf("countersign %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return stdout, err
}

// serve starts the store. Cases that are meant to fail need no limit on failures.
func (s *shop) serve(ctx context.Context, more ...string) (*process, error) {
	args := append([]string{"store", "serve", "--listen", "127.0.0.1:0", "--json", "--quiet", "--fail-limit", "0"}, s.flags()...)
	args = append(append(args, strings.Fields(s.settings.serveFlags)...), more...)
	log, err := os.Create(s.log())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return start(ctx, program.Address("store_url"), nil, log, s.binary, args...)
}

// withLog saves the log of the server that was started last from the next one, and
// says in the error where it is. What is not installed has none.
func (s *shop) withLog(err error) error {
	if errors.Is(err, errNotInstalled) {
		return err
	}
	kept := filepath.Join(s.settings.out, "failed.log")
	if lost := os.Rename(s.log(), kept); lost != nil {
		return errors.Join(err, lost)
	}
	return fmt.Errorf("%w\nthe server's log is in %s", err, kept)
}

func (s *shop) log() string { return filepath.Join(s.settings.out, "serve.log") }

// peer starts the server of another make; see peers/README.md.
func (s *shop) peer(ctx context.Context) (*process, error) {
	command := append(strings.Fields(s.settings.peer), s.settings.out, s.lines())
	return start(ctx, printed, nil, os.Stderr, command[0], command[1:]...)
}

// floor starts the bare server that answers what the store answers to a request.
func (s *shop) floor(ctx context.Context, a floorAnswer) (*process, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(ctx, printed, bytes.NewReader(text), os.Stderr, self, "floor")
}

// answerOf asks the store one request and returns the whole answer.
func answerOf(address string, r request) (floorAnswer, error) {
	l, err := roundTrip(address, r)
	if err != nil {
		return floorAnswer{}, err
	}
	defer l.Body.Close()
	body, err := io.ReadAll(l.Body)
	l.Header.Del("Date") // net/http's own
	return floorAnswer{Status: l.StatusCode, Header: l.Header, Body: body}, err
}

// waitReady asks until the store answers; it has printed its address already.
func waitReady(ctx context.Context, address string) error {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && ctx.Err() == nil; {
		answer, err := http.Get(address + "/readyz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return errors.New("the store did not become ready")
}
