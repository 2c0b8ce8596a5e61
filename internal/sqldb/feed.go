package sqldb

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/group"
)

const (
	// feedPoll is how often SQLite is asked whether another process committed.
	feedPoll = 100 * time.Millisecond
	// feedBeat is how often a notification is sent through PostgreSQL to prove that
	// notifications arrive.
	feedBeat = 250 * time.Millisecond
	// feedSilence is how long none may arrive.
	feedSilence = time.Second
	// feedRetry is the wait before a lost feed is tried again.
	feedRetry = 250 * time.Millisecond
	// changesKept is how long rows of changes stay; a reader that was away
	// longer drops everything it holds.
	changesKept = time.Hour
)

// feedState is what is told of the feed.
type feedState struct {
	live   atomic.Bool
	losses atomic.Int64
	// logged reports that the log was told of a loss, and not yet of its end.
	logged atomic.Bool
	// heard is when it was last certain that no change was missed, nil before the feed begins.
	heard atomic.Pointer[time.Time]

	mu     sync.Mutex
	lostAt time.Time     // zero while the feed is live, and before it begins
	lost   time.Duration // before lostAt
}

// begin starts the clocks of a feed that is not live yet.
func (f *feedState) begin() {
	f.setLive(false)
	f.hear()
}

// hear notes that no change was missed up to now.
func (f *feedState) hear() {
	now := time.Now()
	f.heard.Store(&now)
}

// silence is how long ago no change was missed, 0 before the feed begins.
func (f *feedState) silence() time.Duration {
	heard := f.heard.Load()
	if heard == nil {
		return 0
	}
	return time.Since(*heard)
}

// setLive notes the end or the beginning of a loss.
func (f *feedState) setLive(live bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live.Store(live)
	switch {
	case live && !f.lostAt.IsZero():
		f.lost += time.Since(f.lostAt)
		f.lostAt = time.Time{}
	case !live && f.lostAt.IsZero():
		f.lostAt = time.Now()
	}
}

// bypassed is for how long in all the feed was not live.
func (f *feedState) bypassed() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lostAt.IsZero() {
		return f.lost
	}
	return f.lost + time.Since(f.lostAt)
}

// Feed brings the changes of other processes to the watchers until ctx ends.
// While it is lost, watchers are told so, and it is tried again.
func (db *DB) Feed(ctx context.Context) {
	follow := db.followSQLite
	if db.engine == Postgres {
		follow = db.followPostgres
	}
	db.feed.begin()
	for {
		live, err := follow(ctx)
		db.feed.setLive(false)
		db.watchers.lost()
		if ctx.Err() != nil {
			return
		}
		db.feedIsLost(live, err)
		if !group.Sleep(ctx, feedRetry, nil) {
			return
		}
	}
}

// feedIsLost counts and logs a loss, the attempts after it only once.
func (db *DB) feedIsLost(live bool, cause error) {
	if live {
		db.feed.losses.Add(1)
	}
	if !db.feed.logged.Swap(true) || live {
		db.options.Log.Warn("the change feed is lost; caches are bypassed until it is back", "cause", cause)
	}
}

// feedIsBack lets memory be filled, which has to be empty first.
func (db *DB) feedIsBack() {
	was := db.feed.logged.Swap(false)
	if was && db.primary != nil {
		db.primary.leave() // it may have lost them all, and be another one
	}
	db.feed.hear()
	db.feed.setLive(true) // before others hear of it: they read the status
	db.watchers.live()
	if was {
		db.options.Log.Info("the change feed is back")
	}
}

// pruneChanges keeps the newest row, however old: a reader that finds it
// without the rows before it knows that it missed them.
const pruneChanges = `DELETE FROM changes WHERE at < $1 AND id < (SELECT max(id) FROM changes)`

// PruneChanges deletes rows of changes that nobody waits for any more.
func (db *DB) PruneChanges(ctx context.Context) error {
	return db.Tx(ctx, func(q Queries) error {
		_, err := q.Exec(ctx, pruneChanges, Time{time.Now().Add(-changesKept)})
		return err
	})
}
