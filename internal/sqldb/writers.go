package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
)

// maxQueue is how many transactions may wait for a connection: half as many as a server
// has clients, so that waiting ones do not take all its connections.
const maxQueue = 2048

// writers are the connections of a pool that writes, and who waits for one.
type writers struct {
	pool *sql.DB
	// size is how many connections the pool has at most.
	size    int
	waiting atomic.Int64
	// stalled are commits that nobody waits for any more; each holds a connection.
	mu      sync.Mutex
	stalled map[*pendingCommit]bool
	// commits are all that are under way.
	commits sync.WaitGroup
	unknown atomic.Int64
}

func newWriters(pool *sql.DB, size int) *writers {
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	return &writers{pool: pool, size: size, stalled: map[*pendingCommit]bool{}}
}

var errQueueFull = errors.New("sqldb: too many transactions wait for a connection")
var errAllStalled = errors.New("sqldb: every connection that writes waits for the outcome of a commit")

// take waits for a connection until ctx ends. It does not wait where nobody gets one
// in time: behind a full queue, and behind commits that do not end.
func (w *writers) take(ctx context.Context, queue int64) (*sql.Conn, error) {
	defer w.waiting.Add(-1)
	if n := w.waiting.Add(1); queue > 0 && n > queue {
		return nil, busy(errQueueFull)
	}
	if queue > 0 && w.allStalled() {
		return nil, unavailable("The database does not confirm what is written", errAllStalled)
	}
	conn, err := w.pool.Conn(ctx)
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) && (w.size == 1 || w.pool.Stats().InUse >= w.size) {
		return nil, busy(context.DeadlineExceeded)
	}
	return conn, err
}

func (w *writers) allStalled() bool {
	return w.countStalled() >= w.size
}

func (w *writers) countStalled() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.stalled)
}

// stall notes that nobody waits for a commit any more.
func (w *writers) stall(c *pendingCommit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !c.ended {
		w.stalled[c] = true
	}
}

// end notes that the outcome of a commit is known.
func (w *writers) end(c *pendingCommit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.ended = true
	delete(w.stalled, c)
}

// abandon closes the connections of stalled commits, whose server may be gone for
// good: they would keep others from writing to the next one.
func (w *writers) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.stalled {
		c.wire.hangUp()
	}
}
