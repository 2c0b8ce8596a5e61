//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
)

// testCluster starts a cluster whose database has an empty table.
func testCluster(t *testing.T) *cluster {
	t.Helper()
	dbtest.Long(t)
	server, err := findPostgres()
	if errors.Is(err, errNoPostgres) {
		dbtest.Skip(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "chaos-") // a short path: that of a socket may have 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	folder := filepath.Join(dir, "template")
	if err := errors.Join(os.Chmod(dir, 0o755), server.makeFolder(folder)); err != nil {
		t.Fatal(err)
	}
	n, err := newNode(server, "template", folder)
	if err != nil {
		t.Fatal(err)
	}
	defer n.stop()
	if err := server.initialize(t.Context(), n.data()); err != nil {
		t.Fatal(err)
	}
	if err := n.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	query(t, n, "template1", "CREATE TABLE notes (text text)")
	query(t, n, "postgres", "CREATE DATABASE "+database)
	n.end(syscall.SIGINT, time.Minute)
	c, err := newCluster(t.Context(), server, n.data(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	return c
}

func query(t *testing.T, n *node, database, statement string) string {
	t.Helper()
	text, err := n.query(t.Context(), database, statement)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// insert begins to write a note, and returns where the outcome will be.
func insert(t *testing.T, n *node, note string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := n.query(t.Context(), database, "INSERT INTO notes VALUES ('"+note+"')")
		done <- err
	}()
	return done
}

// awaitWaiting returns when a commit waits for a standby.
func awaitWaiting(t *testing.T, n *node) {
	t.Helper()
	for query(t, n, "postgres", "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "0" {
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
	}
}

func TestACommitWaitsForAFrozenStandby(t *testing.T) {
	t.Parallel()
	c := testCluster(t)
	standbys := c.others()
	for _, n := range standbys {
		if err := n.freeze(); err != nil {
			t.Fatal(err)
		}
	}
	written := insert(t, c.primary, "late")
	awaitWaiting(t, c.primary)
	if err := standbys[1].thaw(); err != nil { // one is enough
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

func TestAFailoverKeepsWhatWasAcknowledgedAndNothingElse(t *testing.T) {
	t.Parallel()
	c := testCluster(t)
	if err := <-insert(t, c.primary, "acknowledged"); err != nil {
		t.Fatal(err)
	}
	old := c.primary
	old.standbys.isolate()
	waiting := insert(t, old, "waiting")
	awaitWaiting(t, old)
	if err := c.promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.primary == old {
		t.Fatal("nothing was promoted")
	}
	memory := old.sharedMemory()
	if err := old.kill(); err != nil || old.running() {
		t.Fatalf("the old primary runs on, error %v", err)
	}
	if err := <-waiting; err == nil {
		t.Error("a write was acknowledged that no standby has")
	}
	if got := query(t, c.primary, database, "SELECT * FROM notes"); got != "acknowledged" {
		t.Errorf("the new primary has %q", got)
	}
	if err := c.awaitStandbys(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := <-insert(t, c.primary, "after"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile("/proc/sysvipc/shm"); err != nil || memory < 0 || strings.Contains(string(text), fmt.Sprintf(" %d ", memory)) {
		t.Errorf("shared memory %d was left, error %v:\n%s", memory, err, text)
	}
}

func TestEverythingEndsThatWasStarted(t *testing.T) {
	t.Parallel()
	c := testCluster(t)
	var started []int
	for _, n := range c.nodes {
		children, err := childrenOf(n.command.Process.Pid)
		if err != nil || len(children) == 0 {
			t.Fatalf("%s has no children, error %v", n.name, err)
		}
		started = append(append(started, n.command.Process.Pid), children...)
	}
	if err := c.nodes[1].freeze(); err != nil {
		t.Fatal(err)
	}
	c.stop()
	for _, pid := range started {
		if state := stateOf(pid); state != "" && state != "Z" {
			t.Errorf("process %d goes on: %s", pid, state)
		}
	}
}

// stateOf is the state of a process, "" when there is none.
func stateOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1]
}
