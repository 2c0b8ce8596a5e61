package sqldb

import (
	"context"
	"database/sql"
	"time"
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
	db.watchers.live()
	tick := time.NewTicker(feedPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-tick.C:
		}
		now, err := dataVersion(ctx, conn)
		if err != nil {
			return true, err
		}
		if now == version {
			continue
		}
		version = now
		db.snapshots.release()
		if last, err = db.readChanges(ctx, conn, last); err != nil {
			return true, err
		}
	}
}

func dataVersion(ctx context.Context, conn *sql.Conn) (int64, error) {
	var version int64
	err := conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
	return version, err
}

// readChanges tells watchers of the rows after last and returns the new last.
// Where rows after last were pruned unread, everything held is dropped.
func (db *DB) readChanges(ctx context.Context, conn *sql.Conn, last int64) (int64, error) {
	rows, err := conn.QueryContext(ctx, `SELECT id, origin, topic, ref FROM changes WHERE id > $1 ORDER BY id`, last)
	if err != nil {
		return last, err
	}
	defer rows.Close()
	var others []change
	gap := false
	for rows.Next() {
		var id int64
		var origin string
		var c change
		if err := rows.Scan(&id, &origin, &c.topic, &c.ref); err != nil {
			return last, err
		}
		gap = gap || id != last+1
		last = id
		if origin != db.origin {
			others = append(others, c)
		}
	}
	if err := rows.Err(); err != nil {
		return last, err
	}
	if gap {
		db.watchers.live()
		return last, nil
	}
	db.watchers.tell(others)
	return last, nil
}
