package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	if set.mode == modeBaseline {
		var err error
		if set.other, err = exec.LookPath(set.other); err != nil {
			return nil, fmt.Errorf("--baseline: %w", err)
		}
	}
	s := &shop{settings: set, binary: filepath.Join(set.out, "countersign"), data: filepath.Join(set.out, "data-"+set.engine()+"-"+set.storeName())}
	if err := program.Build(ctx, s.binary, log); err != nil || set.mode == modeVerify || set.mode == modeOutage || set.mode == modeMove {
		return s, err
	}
	if set.mode == modeBaseline {
		return s, s.useBaseline(ctx)
	}
	if err := s.fill(ctx); err != nil || set.mode != modeLog {
		return s, err
	}
	return s, s.useWithoutLog(ctx)
}

// fill imports the shop, unless an earlier run did. The store itself is asked
// whether it has the last purchase, and an import is one transaction: a database on
// a server may be gone while its data folder is still there. Before stale
// answers are counted, all purchases are imported again, because a run refunds them.
func (s *shop) fill(ctx context.Context) error {
	if err := s.command(ctx, "store", "migrate", "up", "--quiet"); err != nil {
		return err
	}
	filled, err := s.has(ctx, sample.BigCode(s.settings.purchases-1))
	if err != nil || (filled && s.settings.mode != modeStale) {
		return err
	}
	fmt.Fprintf(os.Stderr, "filling %s with %d purchases\n", s.data, s.settings.purchases)
	if err := writeLines(s.lines(), s.settings); err != nil {
		return err
	}
	return s.command(ctx, "store", "import", "--quiet", s.lines())
}

// has reports whether a code is valid in the store.
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
	out := bufio.NewWriter(f) // reports its first error at the end
	_, err = io.Copy(out, sample.Big(set.items, set.purchases))
	for _, size := range listSizes {
		w := listWorkspace(size)
		fmt.Fprintf(out, `{"type":"workspace","username":%q,"name":{"firstname":"A","lastname":"B"},"currency":"USD","registered_at":"2024-04-27T12:00:00Z"}`+"\n"+
			`{"type":"key","workspace":%[1]q,"name":"web","key":%[2]q}`+"\n", w, sample.SecretKey(w))
		for i := range size {
			fmt.Fprintf(out, `{"type":"item","workspace":%q,"id":%d,"kind":"other","name":"Item %d","description":%q,"version":"1.0.0",`+
				`"media":{"thumbnail":"https://cdn.example/%[2]d.png"},"price":{"regular":49.00,"extended":199.00},"currency":"USD","published_at":"2024-04-27T12:00:00Z"}`+"\n",
				w, 500_000_000+size*100+i, i, strings.Repeat("A thing worth having. ", 25))
		}
	}
	return errors.Join(err, out.Flush(), f.Close())
}

func (s *shop) flags() []string {
	flags := []string{"--data", s.data}
	if s.settings.database != "" {
		flags = append(flags, "--db", s.settings.database)
	}
	return flags
}

// at is the same program on another data folder and database.
func (s *shop) at(data, database string) *shop {
	other := *s
	other.data, other.settings.database = data, database
	return &other
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

// export is the SHA-256 of the store's export and its size in bytes.
func (s *shop) export(ctx context.Context, more ...string) (sum string, size int64, err error) {
	c := exec.CommandContext(ctx, s.binary, slices.Concat([]string{"store", "export"}, more, s.flags())...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return "", 0, err
	}
	hash := sha256.New()
	size, err = io.Copy(hash, out)
	if err := errors.Join(err, c.Wait()); err != nil {
		return "", 0, fmt.Errorf("countersign store export: %w", err)
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}

// serve starts the store and waits until it is ready. Cases that are meant to fail need no
// limit on failures.
func (s *shop) serve(ctx context.Context, more ...string) (*process, error) {
	args := append([]string{"store", "serve", "--listen", "127.0.0.1:0", "--json", "--quiet", "--fail-limit", "0"}, s.flags()...)
	switch s.settings.mode {
	case "", modeFull, modePeer:
		args = append(args, "--request-log", "off") // measured by itself, with modeLog
	}
	args = append(append(args, strings.Fields(s.settings.serveFlags)...), more...)
	log, err := os.Create(s.log())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return ready(start(ctx, "store_url", nil, log, s.binary, args...))
}

// log is the path of the log of the server that was started last.
func (s *shop) log() string {
	return filepath.Join(s.settings.out, strings.TrimSuffix(s.settings.file(), ".json")+".log")
}

// peer starts the peer; see peers/README.md.
func (s *shop) peer(ctx context.Context) (*process, error) {
	command := append(strings.Fields(s.settings.other), s.settings.out, s.lines())
	return start(ctx, "", nil, os.Stderr, command[0], command[1:]...)
}

// floor starts the bare server that writes one response to everything.
func (s *shop) floor(ctx context.Context, a floorAnswer) (*process, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(ctx, "", bytes.NewReader(text), os.Stderr, self, "floor")
}

// ready polls until a server that was started is ready.
func ready(p *process, err error) (*process, error) {
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && len(p.ended) == 0; {
		answer, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: trustAll, DisableKeepAlives: true}}).Get(p.address + "/readyz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return p, nil
			}
		}
	}
	p.stop()
	return nil, errors.New("the server did not become ready")
}
