package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// channel is where the trigger on the table changes sends its rows.
const channel = "countersign_changes"

// followPostgres listens on a connection of its own. It listens first and only
// then lets memory be filled, so that no change falls between the two. A beat
// proves that the connection is alive.
func (db *DB) followPostgres(ctx context.Context) (live bool, err error) {
	config, err := postgresConfig(db.options.URL)
	if err != nil {
		return false, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return false, err
	}
	// Connections of before may be broken: each would fail a query.
	db.read.SetMaxIdleConns(0)
	db.read.SetMaxIdleConns(connections)
	db.watchers.live()
	for {
		if err := db.receive(ctx, conn); err != nil {
			return true, err
		}
	}
}

// receive waits for one notification, at most one beat.
func (db *DB) receive(ctx context.Context, conn *pgx.Conn) error {
	wait, cancel := context.WithTimeout(ctx, feedBeat)
	defer cancel()
	note, err := conn.WaitForNotification(wait)
	switch {
	case err == nil:
		return db.deliver(note.Payload)
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	}
	beat, cancel := context.WithTimeout(ctx, 2*feedBeat+db.options.Longer)
	defer cancel()
	return conn.Ping(beat)
}

// deliver reads the payload "topic ref". This process hears of its own
// marks a second time: a commit whose outcome was unknown may land late.
func (db *DB) deliver(payload string) error {
	topic, ref, ok := strings.Cut(payload, " ")
	if !ok {
		return fmt.Errorf("sqldb: notification %q", payload)
	}
	db.watchers.tell([]change{{topic, ref}})
	return nil
}
