package sqldb

import (
	"context"
	"time"
)

const (
	// feedPoll is how often SQLite is asked whether another process committed.
	feedPoll = 100 * time.Millisecond
	// feedBeat is how often PostgreSQL's connection is proved to be alive.
	feedBeat = 250 * time.Millisecond
	// feedRetry is the wait before a lost feed is tried again.
	feedRetry = 250 * time.Millisecond
	// changesKept is how long rows of changes stay; a reader that was away
	// longer drops everything it holds.
	changesKept = time.Hour
)

// Feed brings the changes of other processes to the watchers until ctx ends.
// While it is lost, watchers are told so, and it is tried again.
func (db *DB) Feed(ctx context.Context) {
	follow := db.followSQLite
	if db.engine == Postgres {
		follow = db.followPostgres
	}
	retry := time.NewTicker(feedRetry)
	defer retry.Stop()
	for logged := false; ; {
		live, err := follow(ctx)
		db.watchers.lost()
		if ctx.Err() != nil {
			return
		}
		if live || !logged {
			db.options.Log.Warn("the feed of changes is lost; memory is bypassed until it is back", "cause", err)
			logged = true
		}
		select {
		case <-ctx.Done():
			return
		case <-retry.C:
		}
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
