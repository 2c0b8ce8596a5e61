package sqldb

import (
	"context"
	"database/sql"

	"github.com/countersign/countersign/internal/group"
)

// followSQLite polls PRAGMA data_version, which costs a look into shared
// memory, on a connection that does nothing else: it changes when any other
// connection, of this or another process, has committed.
func (db *DB) followSQLite(ctx context.Context) (live bool, err error) {
	conn, err := db.read.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	version, err := dataVersion(ctx, conn)
	if err != nil {
		return false, err
	}
	var last int64
	if err := conn.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM changes`).Scan(&last); err != nil {
		return false, err
	}
	db.snapshots.follow(true)
	defer db.snapshots.follow(false)
	db.feedIsBack()
	for group.Sleep(ctx, feedPoll, nil) {
		now, err := dataVersion(ctx, conn)
		if err != nil {
			return true, err
		}
		if now == version {
			db.feed.hear()
			continue
		}
		version = now
		changes, err := list(ctx, conn, scanNumbered, selectChanges, last)
		if err != nil {
			return true, err
		}
		last = db.follow(changes, last)
		db.feed.hear()
		db.watchLog()
	}
	return true, ctx.Err()
}

func dataVersion(ctx context.Context, conn *sql.Conn) (int64, error) {
	var version int64
	err := conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
	return version, err
}

// numbered is a row of changes.
type numbered struct {
	id int64
	change
}

const selectChanges = `SELECT id, topic, ref FROM changes WHERE id > $1 ORDER BY id`

func scanNumbered(r Row) (n numbered, err error) {
	err = r.Scan(&n.id, &n.topic, &n.ref)
	return n, err
}

// follow lets everything that is held catch up with rows of changes and returns
// the last of them. Where rows were pruned unread, everything is dropped.
func (db *DB) follow(rows []numbered, last int64) int64 {
	changes := make([]change, len(rows))
	gap := false
	for i, row := range rows {
		gap = gap || row.id != last+1
		last = row.id
		changes[i] = row.change
	}
	if gap {
		db.snapshots.release()
		db.watchers.live()
		return last
	}
	db.changed(changes)
	return last
}
