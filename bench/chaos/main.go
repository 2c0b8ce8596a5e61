//go:build linux

// Command chaos takes a store's PostgreSQL away in ways that happen in the field, and
// checks that no acknowledged write is missing afterwards, that no answer was wrong, and
// that every request was answered.
//
//	chaos [flags]
//
// It starts a primary and two standbys of its own (synchronous_standby_names is
// 'ANY 1 (…)'), and the store with a URL that names all three. Each server stands behind
// proxies of the harness, so that it can be cut off from the others or from the store. A
// moderate load of validations, licenses and refunds runs all the time. docs/chaos.md says
// how to read what it prints.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/store/sample"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// options say what to try.
type options struct {
	// only are the names of scenarios; all of them without one.
	only   []string
	binary string
	out    string
	short  bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	var only string
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&only, "only", "", "`names` of scenarios, separated by commas: "+strings.Join(names(), ", "))
	f.StringVar(&o.binary, "binary", "", "`path` of the countersign binary under test (default: this source is built)")
	f.StringVar(&o.out, "out", "bench/out", "`folder` for the binary and for the logs of scenarios that fail")
	f.BoolVar(&o.short, "short", false, "no fault lasts longer than 6 seconds")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: expected flags only", f.Arg(0))
	}
	if only == "" {
		o.only = names()
		return o, nil
	}
	o.only = strings.Split(only, ",")
	for _, name := range o.only {
		if !slices.Contains(names(), name) {
			return o, fmt.Errorf("unknown scenario %q: expected %s", name, strings.Join(names(), ", "))
		}
	}
	return o, nil
}

// names lists all scenarios.
func names() []string {
	var all []string
	for _, s := range scenarios {
		all = append(all, s.name)
	}
	return all
}

// session is one run of all scenarios that were asked for.
type session struct {
	options options
	stderr  io.Writer
	server  *install
	// dir is a temporary folder; template and data in it are what each scenario begins
	// with: PostgreSQL's data with a filled store, and the store's folder.
	dir, template, data string
	reports             []report
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	s := &session{stderr: stderr}
	if s.options, err = parse(args, stderr); err != nil {
		return err
	}
	if s.server, err = findPostgres(); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "countersign-chaos-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	if err := errors.Join(os.Chmod(s.dir, 0o755), s.build(ctx), s.fill(ctx)); err != nil {
		return stopped(ctx, err)
	}
	err = s.runAll(ctx)
	printTable(stdout, s.reports)
	return stopped(ctx, err)
}

// stopped replaces an error that comes from an interrupt.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("stopped")
	}
	return err
}

func (s *session) runAll(ctx context.Context) error {
	var failures []error
	for _, one := range scenarios {
		if slices.Contains(s.options.only, one.name) && ctx.Err() == nil {
			fmt.Fprintf(s.stderr, "%s: %s\n", one.name, one.title)
			failures = append(failures, s.try(ctx, one))
		}
	}
	return errors.Join(failures...)
}

// try tries one scenario in a folder of its own. If it fails or breaks a promise, its logs
// and all violations are saved, and the error names their folder.
func (s *session) try(ctx context.Context, one scenario) error {
	dir := filepath.Join(s.dir, one.name)
	if err := s.server.makeFolder(dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the whole temporary folder is removed in the end
	r := report{title: one.title}
	err := one.try(s, ctx, one, dir, &r)
	if err == nil {
		s.reports = append(s.reports, r)
		if len(r.violations) == 0 {
			return nil
		}
		err = errBroken
	}
	saved := filepath.Join(s.options.out, "chaos-"+one.name)
	return errors.Join(fmt.Errorf("%s: %w; the logs are in %s", one.name, err, saved), r.save(saved))
}

// save writes the logs and the violations to a folder.
func (r report) save(folder string) error {
	lost := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755))
	for to, from := range r.logs {
		text, err := os.ReadFile(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was not started
		}
		lost = errors.Join(lost, err, os.WriteFile(filepath.Join(folder, to+".log"), text, 0o644))
	}
	lines := strings.Join(append(r.violations, ""), "\n")
	return errors.Join(lost, os.WriteFile(filepath.Join(folder, "violations.txt"), []byte(lines), 0o644))
}

// build builds the program, unless another one is to be tried.
func (s *session) build(ctx context.Context) error {
	if err := os.MkdirAll(s.options.out, 0o755); err != nil {
		return err
	}
	if s.options.binary != "" {
		path, err := exec.LookPath(s.options.binary)
		s.options.binary = path
		return err
	}
	s.options.binary = filepath.Join(s.options.out, "countersign")
	return program.Build(ctx, s.options.binary, s.stderr)
}

// fill makes a server with a filled store, and stops it in order.
func (s *session) fill(ctx context.Context) error {
	folder := filepath.Join(s.dir, "template")
	if err := s.server.makeFolder(folder); err != nil {
		return err
	}
	n, err := newNode(s.server, "template", folder)
	if err != nil {
		return err
	}
	defer n.stop()
	if err := s.server.initialize(ctx, n.data()); err != nil {
		return err
	}
	if err := n.start(ctx); err != nil {
		return err
	}
	if _, err := n.query(ctx, "postgres", "CREATE DATABASE "+database); err != nil {
		return err
	}
	s.template, s.data = n.data(), filepath.Join(s.dir, "data")
	alone := &cluster{nodes: []*node{n}}
	if err := s.importSample(ctx, &store{binary: s.options.binary, data: s.data, url: alone.url()}); err != nil {
		return err
	}
	n.end(syscall.SIGINT, time.Minute)
	return nil
}

func (s *session) importSample(ctx context.Context, to *store) error {
	path := filepath.Join(s.dir, "lines.jsonl")
	if err := writeFile(path, sample.Big(items, purchases)); err != nil {
		return err
	}
	_, err := to.must(ctx, "store", "migrate", "up", "--quiet")
	if err == nil {
		_, err = to.must(ctx, "store", "import", "--quiet", path)
	}
	return err
}

func writeFile(path string, text io.Reader) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, text)
	return errors.Join(err, f.Close())
}

// newStore is a store with a folder of its own, on a database that was copied from the
// template.
func (s *session) newStore(ctx context.Context, dir, url string) (*store, error) {
	one := &store{binary: s.options.binary, data: filepath.Join(dir, "store"), url: url}
	return one, program.Copy(ctx, s.data, one.data)
}
