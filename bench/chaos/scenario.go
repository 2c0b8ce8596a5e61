//go:build linux

package main

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/countersign/countersign/bench/program"
)

// scenario is something that happens to a store's database while the load runs.
type scenario struct {
	name, title string
	// try runs the scenario in a folder. What it adds to the report counts also when it fails.
	try func(s *session, ctx context.Context, one scenario, dir string, r *report) error
	// fault is what happens to a cluster, for scenarios that are tried on one.
	fault func(context.Context, *trial) error
}

var scenarios = []scenario{
	{"frozen-standbys", "both standbys frozen, then continued", (*session).tryCluster, frozenStandbys},
	{"cut-off-primary", "a primary cut off from its standbys, then from the store; failover", (*session).tryCluster, cutOffPrimary},
	{"killed-primary", "a primary killed; failover", (*session).tryCluster, killedPrimary},
	{"frozen-primary", "a primary frozen, then continued", (*session).tryCluster, frozenPrimary},
	{"frozen-failover", "a primary frozen; failover", (*session).tryCluster, frozenFailover},
	{"pooler", "PgBouncer between the store and its database", (*session).tryPooler, nil},
	{"import", "an import of purchases beside the load", (*session).tryImport, nil},
}

// trial is one scenario on a cluster of its own.
type trial struct {
	cluster *cluster
	store   *store
	record  *record
	// short makes long faults short.
	short   bool
	outages []outage
	// opened is how many connections clients made in outages, to the node that had most.
	opened int
}

// lasting is the length of a fault that is long on purpose.
func (t *trial) lasting(d time.Duration) time.Duration {
	if t.short {
		return min(d, 6*time.Second)
	}
	return d
}

// outage notes the time of a fault during which no server takes connections that write.
func (t *trial) outage(fault func() error) error {
	before := t.cluster.connections()
	from := time.Now()
	err := fault()
	t.outages = append(t.outages, outage{from, time.Now()})
	for i, n := range t.cluster.connections() {
		t.opened = max(t.opened, n-before[i])
	}
	return err
}

// failover is an outage of a fault and, some time later, the promotion of a standby.
func (t *trial) failover(ctx context.Context, fault func() error, after time.Duration) error {
	return t.outage(func() error {
		if err := fault(); err != nil {
			return err
		}
		program.Pause(ctx, after)
		return t.cluster.promote(ctx)
	})
}

// failoverFrom is a failover after which the old primary, which still runs, is killed.
func (t *trial) failoverFrom(ctx context.Context, old *node, fault func() error, after time.Duration) error {
	if err := t.failover(ctx, fault, after); err != nil {
		return err
	}
	program.Pause(ctx, 3*time.Second)
	return old.kill()
}

func frozenStandbys(ctx context.Context, t *trial) error {
	standbys := t.cluster.others()
	for _, n := range standbys {
		if err := n.freeze(); err != nil {
			return err
		}
	}
	program.Pause(ctx, t.lasting(20*time.Second))
	return errors.Join(standbys[0].thaw(), standbys[1].thaw())
}

// cutOffPrimary leaves the primary to the store alone for a while: its commits wait for
// standbys that will never have them.
func cutOffPrimary(ctx context.Context, t *trial) error {
	old := t.cluster.primary
	old.standbys.isolate()
	program.Pause(ctx, t.lasting(8*time.Second))
	return t.failoverFrom(ctx, old, func() error { old.clients.isolate(); return nil }, 3*time.Second)
}

func killedPrimary(ctx context.Context, t *trial) error {
	return t.failover(ctx, t.cluster.primary.kill, 4*time.Second)
}

func frozenPrimary(ctx context.Context, t *trial) error {
	return t.outage(func() error {
		if err := t.cluster.primary.freeze(); err != nil {
			return err
		}
		program.Pause(ctx, t.lasting(30*time.Second))
		return t.cluster.primary.thaw()
	})
}

func frozenFailover(ctx context.Context, t *trial) error {
	return t.failoverFrom(ctx, t.cluster.primary, t.cluster.primary.freeze, 5*time.Second)
}

const (
	// settling is how long the load runs before a fault.
	settling = 3 * time.Second
	// recovering is how long it runs after one.
	recovering = 8 * time.Second
)

var errBroken = errors.New("a promise was broken")

// tryCluster tries one scenario on a cluster and a store of its own.
func (s *session) tryCluster(ctx context.Context, one scenario, dir string, r *report) error {
	c, err := newCluster(ctx, s.server, s.template, dir)
	if err != nil {
		return err
	}
	defer c.stop()
	t := &trial{cluster: c, record: newRecord(), short: s.options.short}
	if t.store, err = s.newStore(ctx, dir, c.url()); err != nil {
		return err
	}
	r.logs = map[string]string{"store": t.store.log()}
	for _, n := range c.nodes {
		r.logs[n.name] = n.log()
	}
	if err := t.store.serve(ctx); err != nil {
		return err
	}
	defer t.store.end(syscall.SIGTERM, 15*time.Second)
	err = t.run(ctx, one)
	r.back = t.record.classify(t.outages)
	r.add(t.record, t.record.rows("")...)
	for _, o := range t.outages {
		r.outage += o.to.Sub(o.from)
	}
	r.opened, r.refusals = t.opened, t.record.refusals(t.outages)
	return err
}

// run runs the load, brings the fault about, and compares what was acknowledged with what
// is there afterwards.
func (t *trial) run(ctx context.Context, one scenario) error {
	if err := t.store.awaitReady(ctx); err != nil {
		return err
	}
	l := startLoad(ctx, t.store, t.record)
	program.Pause(ctx, settling)
	err := one.fault(ctx, t)
	if err == nil {
		program.Pause(ctx, recovering)
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
