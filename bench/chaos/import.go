//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/countersign/countersign/internal/store/sample"
)

// imported is how many purchases an import beside the load adds, and importedShort how
// many in a short run.
const (
	imported      = 700_000
	importedShort = 70_000
)

// tryImport imports purchases by a command while the load runs, on SQLite and on one
// PostgreSQL server.
func (s *session) tryImport(ctx context.Context, _ scenario, dir string, r *report) error {
	n, err := s.startAlone(ctx, dir)
	if err != nil {
		return err
	}
	defer n.stop()
	lines := filepath.Join(dir, "more.jsonl")
	if err := s.writeMore(lines); err != nil {
		return err
	}
	onPostgres, err := s.newStore(ctx, dir, (&cluster{nodes: []*node{n}}).url())
	if err != nil {
		return err
	}
	onSQLite := &store{binary: s.options.binary, data: filepath.Join(dir, "sqlite")}
	if err := s.importSample(ctx, onSQLite); err != nil {
		return err
	}
	r.logs = map[string]string{"sqlite-store": onSQLite.log(), "postgres-store": onPostgres.log(), "postgres": n.log()}
	var took []string
	for _, one := range []struct {
		engine string
		store  *store
	}{{"SQLite", onSQLite}, {"PostgreSQL", onPostgres}} {
		seen, lasted, err := importBeside(ctx, one.store, lines)
		r.add(seen, seen.rows(one.engine+", ")...)
		if err != nil {
			return fmt.Errorf("%s: %w", one.engine, err)
		}
		took = append(took, fmt.Sprintf("%.1f s on %s", lasted.Seconds(), one.engine))
	}
	r.note = "the import took " + strings.Join(took, ", ")
	return nil
}

// writeMore writes the purchases that come after those of the sample, without the lines
// that are in the store already.
func (s *session) writeMore(path string) error {
	more := imported
	if s.options.short {
		more = importedShort
	}
	const workspaceAndKey = 2
	all := bufio.NewReader(sample.Big(items, purchases+more))
	for range workspaceAndKey + items + purchases {
		if _, err := all.ReadSlice('\n'); err != nil {
			return err
		}
	}
	return writeFile(path, all)
}

// importBeside runs the load and, beside it, an import. It returns what the load saw and
// how long the import took.
func importBeside(ctx context.Context, s *store, lines string) (*record, time.Duration, error) {
	r := newRecord()
	if err := s.serve(ctx); err != nil {
		return r, 0, err
	}
	defer s.end(syscall.SIGTERM, 15*time.Second)
	if err := s.awaitReady(ctx); err != nil {
		return r, 0, err
	}
	l := startLoad(ctx, s, r)
	program.Pause(ctx, settling)
	began := time.Now()
	_, err := s.must(ctx, "store", "import", "--quiet", lines)
	lasted := time.Since(began)
	if err == nil {
		program.Pause(ctx, settling)
	}
	l.end()
	if err = errors.Join(err, ctx.Err()); err != nil {
		return r, lasted, err
	}
	r.classify(nil)
	return r, lasted, r.verify(ctx, s)
}
