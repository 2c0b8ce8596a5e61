//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/bench/program"
)

// cluster is a primary and two standbys. A commit waits until one standby has it.
type cluster struct {
	nodes   []*node
	primary *node
}

// newCluster starts three nodes with copies of a template's data, which a server has left
// that was stopped in order.
func newCluster(ctx context.Context, server *install, template, dir string) (*cluster, error) {
	c := new(cluster)
	for i := range 3 {
		n, err := copyNode(ctx, server, template, dir, fmt.Sprintf("node%d", i+1))
		if err != nil {
			c.stop()
			return nil, err
		}
		c.nodes = append(c.nodes, n)
	}
	c.primary = c.nodes[0]
	if err := c.start(ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *cluster) start(ctx context.Context) error {
	if err := c.primary.configure(""); err != nil {
		return err
	}
	for _, n := range c.others() {
		if err := errors.Join(os.WriteFile(filepath.Join(n.data(), "standby.signal"), nil, 0o644), n.follow(c.primary)); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		if err := n.start(ctx); err != nil {
			return err
		}
	}
	return c.awaitStandbys(ctx, 2)
}

// others are the nodes that are not the primary.
func (c *cluster) others() []*node {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n == c.primary })
}

// awaitStandbys waits until as many standbys as are wanted acknowledge commits.
func (c *cluster) awaitStandbys(ctx context.Context, want int) error {
	for {
		text, err := c.primary.query(ctx, "postgres", "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum' AND state = 'streaming'")
		switch {
		case err != nil:
			return err
		case text == fmt.Sprint(want):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
		program.Pause(ctx, 50*time.Millisecond)
	}
}

// promote makes the standby that received most the primary; every acknowledged commit is
// on it. The other standby follows it. It returns when the new primary takes connections
// that write.
func (c *cluster) promote(ctx context.Context) error {
	standbys := c.others()
	best, most := standbys[0], int64(-1)
	for _, n := range standbys {
		received, err := n.received(ctx)
		if err != nil {
			return err
		}
		if received > most {
			best, most = n, received
		}
	}
	if done, err := best.query(ctx, "postgres", "SELECT pg_promote(true, 60)"); err != nil || done != "t" {
		return errors.Join(err, fmt.Errorf("%s was not promoted", best.name))
	}
	c.primary = best
	for _, n := range standbys {
		if n != best {
			return n.follow(best)
		}
	}
	return nil
}

// url names all nodes; a client finds the one that can be written.
func (c *cluster) url() string {
	var hosts []string
	for _, n := range c.nodes {
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", n.clients.port()))
	}
	return "postgres://postgres@" + strings.Join(hosts, ",") + "/" + database + "?sslmode=disable&target_session_attrs=read-write"
}

// connections is how many connections clients have made so far, to each node.
func (c *cluster) connections() []int {
	var all []int
	for _, n := range c.nodes {
		all = append(all, int(n.clients.accepted.Load()))
	}
	return all
}

func (c *cluster) stop() {
	for _, n := range c.nodes {
		n.stop()
	}
}
