//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/store/sample"
)

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
			failures = append(failures, s.keep(one.try(s, ctx, one)))
		}
	}
	return errors.Join(failures...)
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

// fill creates a server with a filled store, and stops it in order.
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
