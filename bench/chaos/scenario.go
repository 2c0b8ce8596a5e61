//go:build linux

package main

import (
	"context"
	"errors"
	"time"
)

// scenario is something that happens to a store's database while the load runs.
type scenario struct {
	name, title string
	try         func(*session, context.Context, scenario) (report, error)
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

func frozenStandbys(ctx context.Context, t *trial) error {
	standbys := t.cluster.others()
	for _, n := range standbys {
		if err := n.freeze(); err != nil {
			return err
		}
	}
	pause(ctx, t.lasting(20*time.Second))
	return errors.Join(standbys[0].thaw(), standbys[1].thaw())
}

// cutOffPrimary leaves the primary to the store alone for a while: its commits wait for
// standbys that will never have them.
func cutOffPrimary(ctx context.Context, t *trial) error {
	old := t.cluster.primary
	old.standbys.isolate()
	pause(ctx, t.lasting(8*time.Second))
	err := t.outage(func() error {
		old.clients.isolate()
		pause(ctx, 3*time.Second)
		return t.cluster.promote(ctx)
	})
	if err != nil {
		return err
	}
	pause(ctx, 3*time.Second)
	return old.kill()
}

func killedPrimary(ctx context.Context, t *trial) error {
	return t.outage(func() error {
		if err := t.cluster.primary.kill(); err != nil {
			return err
		}
		pause(ctx, 4*time.Second)
		return t.cluster.promote(ctx)
	})
}

func frozenPrimary(ctx context.Context, t *trial) error {
	return t.outage(func() error {
		if err := t.cluster.primary.freeze(); err != nil {
			return err
		}
		pause(ctx, t.lasting(30*time.Second))
		return t.cluster.primary.thaw()
	})
}

func frozenFailover(ctx context.Context, t *trial) error {
	old := t.cluster.primary
	err := t.outage(func() error {
		if err := old.freeze(); err != nil {
			return err
		}
		pause(ctx, 5*time.Second)
		return t.cluster.promote(ctx)
	})
	if err != nil {
		return err
	}
	pause(ctx, 3*time.Second)
	return old.kill()
}
