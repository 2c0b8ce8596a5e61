package sqldb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/group"
	"github.com/jackc/pgx/v5"
)

// channel is where the trigger on the table changes sends its rows.
const channel = "countersign_changes"

// heartbeatTopic is the topic of heartbeats. No change has this topic.
const heartbeatTopic = "beat"

// errNoBeat is a feed that may be deaf: behind a pooler in transaction mode a
// connection takes LISTEN and answers, but never hears anything.
var errNoBeat = errors.New("sqldb: a heartbeat of the change feed did not arrive; is a connection pooler in transaction mode in front of PostgreSQL?")

// followPostgres listens on a connection of its own. It listens first and only
// then lets memory be filled, so that no change falls between the two. Beats, which
// are notifications from another connection, prove that it hears.
func (db *DB) followPostgres(ctx context.Context) (live bool, err error) {
	listener, err := db.primary.dial(ctx)
	if err != nil {
		return false, err
	}
	defer listener.Close(context.WithoutCancel(ctx))
	sender, err := db.primary.dial(ctx)
	if err != nil {
		return false, err
	}
	defer sender.Close(context.WithoutCancel(ctx))
	if err := db.withinBeat(ctx, func(ctx context.Context) error {
		_, err := listener.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_lock_shared(%d); LISTEN %s", serversLock, channel))
		return err
	}); err != nil {
		return false, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	token := rand.Text()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		stop(group.Contain(db.options.Log, "heartbeats of the change feed", func() error {
			return db.sendBeats(ctx, sender, token)
		}))
	}()
	defer func() { <-ended }()
	defer stop(nil)
	return db.receive(ctx, listener, heartbeatTopic+" "+token)
}

// receive delivers notifications until none arrive in time. The first heartbeat makes
// the feed live.
func (db *DB) receive(ctx context.Context, listener *pgx.Conn, heartbeat string) (live bool, err error) {
	silent := time.Now().Add(feedSilence + db.options.Longer)
	for {
		wait, cancel := context.WithDeadline(ctx, silent)
		note, err := listener.WaitForNotification(wait)
		cancel()
		switch {
		case ctx.Err() != nil:
			return live, context.Cause(ctx)
		case errors.Is(err, context.DeadlineExceeded):
			return live, errNoBeat
		case err != nil:
			return live, err
		case note.Payload != heartbeat:
			if err := db.deliver(note.Payload); err != nil {
				return live, err
			}
			continue
		}
		silent = time.Now().Add(feedSilence + db.options.Longer)
		db.feed.hear()
		if !live {
			live = true
			db.feedIsBack()
		}
	}
}

// sendBeats sends heartbeats until ctx ends or one does not get through. They wait neither
// for the disk nor for a standby.
func (db *DB) sendBeats(ctx context.Context, sender *pgx.Conn, token string) error {
	tick := time.NewTicker(feedBeat)
	defer tick.Stop()
	for {
		err := db.withinBeat(ctx, func(ctx context.Context) error {
			_, err := sender.PgConn().Exec(ctx, "SELECT set_config('synchronous_commit', 'off', true), pg_notify('"+
				channel+"', '"+heartbeatTopic+" "+token+"')").ReadAll()
			return err
		})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// withinBeat bounds the wait for an answer on a connection of the feed.
func (db *DB) withinBeat(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, feedSilence+db.options.Longer)
	defer cancel()
	return fn(ctx)
}

// deliver reads the payload "topic ref". This process hears of its own
// marks a second time: a commit whose outcome was unknown may land late.
func (db *DB) deliver(payload string) error {
	topic, ref, ok := strings.Cut(payload, " ")
	if !ok {
		return fmt.Errorf("sqldb: notification %q", payload)
	}
	if topic != heartbeatTopic { // of another process
		db.watchers.notify([]change{{topic, ref}})
	}
	return nil
}
