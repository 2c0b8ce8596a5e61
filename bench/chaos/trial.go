//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// settling is how long the load runs before a fault.
	settling = 3 * time.Second
	// recovering is how long it runs after one.
	recovering = 8 * time.Second
)

var errBroken = errors.New("a promise was broken")

// tryCluster tries one scenario on a cluster and a store of its own.
func (s *session) tryCluster(ctx context.Context, one scenario) (report, error) {
	dir := filepath.Join(s.dir, one.name)
	if err := s.server.makeFolder(dir); err != nil {
		return report{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the whole temporary folder is removed in the end
	c, err := newCluster(ctx, s.server, s.template, dir)
	if err != nil {
		return report{}, err
	}
	defer c.stop()
	t := &trial{cluster: c, record: newRecord(), short: s.options.short}
	if t.store, err = s.newStore(ctx, dir, c.url()); err != nil {
		return report{}, err
	}
	if err := t.store.serve(ctx); err != nil {
		return report{}, s.withLogs(one.name, t.logs(), t.record.violations, err)
	}
	defer t.store.end(syscall.SIGTERM, 15*time.Second)
	if err := t.run(ctx, one); err != nil {
		return report{}, s.withLogs(one.name, t.logs(), t.record.violations, err)
	}
	r := t.report(one)
	if len(r.violations) > 0 {
		r.err = s.withLogs(one.name, t.logs(), r.violations, errBroken)
	}
	return r, nil
}

// run runs the load, brings the fault about, and compares what was acknowledged with what
// is there afterwards.
func (t *trial) run(ctx context.Context, one scenario) error {
	if err := t.store.awaitReady(ctx); err != nil {
		return err
	}
	l := startLoad(ctx, t.store, t.record)
	pause(ctx, settling)
	err := one.fault(ctx, t)
	if err == nil {
		pause(ctx, recovering)
	}
	l.end()
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	if err := t.store.awaitReady(ctx); err != nil {
		return err
	}
	return t.record.verify(ctx, t.store)
}

// report sums up what a trial came to.
func (t *trial) report(one scenario) report {
	r := report{title: one.title, back: t.record.classify(t.outages), rows: t.record.rows("")}
	for _, o := range t.outages {
		r.outage += o.to.Sub(o.from)
	}
	r.opened, r.refusals, r.violations = t.opened, t.record.refusals(t.outages), t.record.violations
	return r
}

// logs are the paths of the logs of the store and of the servers, by name.
func (t *trial) logs() map[string]string {
	logs := map[string]string{"store": t.store.log()}
	for _, n := range t.cluster.nodes {
		logs[n.name] = n.log()
	}
	return logs
}

// withLogs saves the logs of a scenario that failed, and all its violations, and says in
// the error where they are.
func (s *session) withLogs(name string, logs map[string]string, violations []string, err error) error {
	folder := filepath.Join(s.options.out, "chaos-"+name)
	lost := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755))
	for to, from := range logs {
		text, failed := os.ReadFile(from)
		if errors.Is(failed, fs.ErrNotExist) {
			continue // it was not started
		}
		lost = errors.Join(lost, failed, os.WriteFile(filepath.Join(folder, to+".log"), text, 0o644))
	}
	lines := strings.Join(append(violations, ""), "\n")
	lost = errors.Join(lost, os.WriteFile(filepath.Join(folder, "violations.txt"), []byte(lines), 0o644))
	return errors.Join(fmt.Errorf("%s: %w; the logs are in %s", name, err, folder), lost)
}
