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

	"github.com/countersign/countersign/internal/store/sample"
)

// shop is a store filled for the measurement.
type shop struct {
	settings settings
	binary   string
	data     string
}

func (s *shop) engine() string {
	if s.settings.database != "" {
		return "postgres"
	}
	return "sqlite"
}

// listSizes are the sizes of the workspaces for items/all.
var listSizes = []int{10, 1000, 10_000}

func listWorkspace(size int) string { return fmt.Sprintf("list%d", size) }

// prepare builds the binary and fills the store, unless an earlier run did.
func prepare(ctx context.Context, set settings, log io.Writer) (*shop, error) {
	if err := os.MkdirAll(set.out, 0o755); err != nil {
		return nil, err
	}
	s := &shop{settings: set, binary: filepath.Join(set.out, "countersign")}
	s.data = filepath.Join(set.out, fmt.Sprintf("data-%s-%d-%d", s.engine(), set.purchases, set.items))
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", s.binary, "./cmd/countersign")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = log
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w", err)
	}
	filled := filepath.Join(s.data, "filled")
	if _, err := os.Stat(filled); err == nil {
		return s, nil
	}
	fmt.Fprintf(log, "filling %s with %d purchases\n", s.data, set.purchases)
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return nil, err
	}
	lines := s.lines()
	if err := writeLines(lines, set); err != nil {
		return nil, err
	}
	if err := s.command(ctx, "store", "import", "--quiet", lines); err != nil {
		return nil, err
	}
	return s, os.WriteFile(filled, nil, 0o600)
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
	return s.program(ctx, append(args, s.flags()...)...)
}

func (s *shop) program(ctx context.Context, args ...string) error {
	c := exec.CommandContext(ctx, s.binary, args...)
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("countersign %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// serve starts the store. Cases that are meant to fail need no limit on failures.
func (s *shop) serve(ctx context.Context, more ...string) (*process, error) {
	args := append([]string{"store", "serve", "--listen", "127.0.0.1:0", "--json", "--quiet", "--fail-limit", "0"}, s.flags()...)
	args = append(append(args, strings.Fields(s.settings.serveFlags)...), more...)
	log, err := os.Create(filepath.Join(s.settings.out, "serve.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return start(ctx, func(line string) (string, error) {
		var said struct {
			URL string `json:"store_url"`
		}
		err := json.Unmarshal([]byte(line), &said)
		return said.URL, err
	}, nil, log, s.binary, args...)
}

// peer starts the server of another make; see peers/README.md.
func (s *shop) peer(ctx context.Context) (*process, error) {
	command := append(strings.Fields(s.settings.peer), s.settings.out, s.lines())
	return start(ctx, func(line string) (string, error) { return line, nil }, nil, os.Stderr, command[0], command[1:]...)
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
	return start(ctx, func(line string) (string, error) { return line, nil }, bytes.NewReader(text), os.Stderr, self, "floor")
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
