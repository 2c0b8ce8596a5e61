package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Event is something that happened to a membership or a purchase.
type Event struct {
	// Seq is the place in the feed, from 1. It increases in the order of commits.
	Seq       int64
	EventID   string
	Type      string
	CreatedAt sqldb.Time
	Body      string // JSON
	UserID    string // "" for an event without a user; written only
}

const selectEvents = `SELECT seq, event_id, type, created_at, body FROM events `

func scanEvent(r sqldb.Row) (e Event, err error) {
	err = r.Scan(&e.Seq, &e.EventID, &e.Type, &e.CreatedAt, &e.Body)
	return e, err
}

// LockEvents makes others who add events wait until the transaction ends.
func (d *DB) LockEvents(ctx context.Context) error { return d.Lock(ctx, "event_head", "id", 1) }

// AddEvent writes an event at the end of the feed and returns its place. Others who add
// events wait until the transaction ends, so that no event appears before one that was read.
func (d *DB) AddEvent(ctx context.Context, e Event) (seq int64, err error) {
	if err := d.Mark(ctx, TopicEvents, ""); err != nil {
		return 0, err
	}
	seq, err = sqldb.One(ctx, d.Queries, sqldb.Value[int64], `UPDATE event_head SET last = last + 1 WHERE id = 1 RETURNING last`)
	if err != nil {
		return 0, err
	}
	return seq, d.Run(ctx, `INSERT INTO events (seq, event_id, type, created_at, body, user_id) VALUES ($1, $2, $3, $4, $5, $6)`,
		seq, e.EventID, e.Type, e.CreatedAt, e.Body, e.UserID)
}

// Event reads one by its place.
func (d *DB) Event(ctx context.Context, seq int64) (Event, error) {
	return sqldb.One(ctx, d.Queries, scanEvent, selectEvents+`WHERE seq = $1`, seq)
}

// EventsAfter reads the events after a place, in their order.
func (d *DB) EventsAfter(ctx context.Context, after int64, limit int) ([]Event, error) {
	return sqldb.List(ctx, d.Queries, scanEvent, selectEvents+`WHERE seq > $1 ORDER BY seq LIMIT $2`, after, limit)
}

// EventsSince reads the events since a time, in their order.
func (d *DB) EventsSince(ctx context.Context, since sqldb.Time, limit int) ([]Event, error) {
	return sqldb.List(ctx, d.Queries, scanEvent, selectEvents+`WHERE created_at >= $1 ORDER BY seq LIMIT $2`, since, limit)
}

// EventsOf reads the newest events of a user, the newest first.
func (d *DB) EventsOf(ctx context.Context, user string, limit int) ([]Event, error) {
	return sqldb.List(ctx, d.Queries, scanEvent, selectEvents+`WHERE user_id = $1 ORDER BY seq DESC LIMIT $2`, user, limit)
}

// DeleteEventsOf deletes the events of a user, and what became of them.
func (d *DB) DeleteEventsOf(ctx context.Context, user string) error {
	for _, statement := range []string{
		`DELETE FROM delivery_attempts WHERE delivery IN (SELECT d.id FROM deliveries d JOIN events e ON e.seq = d.event WHERE e.user_id = $1)`,
		`DELETE FROM deliveries WHERE event IN (SELECT seq FROM events WHERE user_id = $1)`,
		`DELETE FROM events WHERE user_id = $1`,
	} {
		if err := d.Run(ctx, statement, user); err != nil {
			return err
		}
	}
	return nil
}

// EventRange reads the places of the oldest event that is kept and of the newest. The oldest
// is the newest and 1 when none is kept.
func (d *DB) EventRange(ctx context.Context) (oldest, newest int64, err error) {
	places, err := sqldb.One(ctx, d.Queries, func(r sqldb.Row) (p [2]int64, err error) {
		err = r.Scan(&p[0], &p[1])
		return p, err
	}, `SELECT coalesce((SELECT min(seq) FROM events), last + 1), last FROM event_head`)
	return places[0], places[1], err
}

// PruneEvents deletes the events before a time, and what became of them.
func (d *DB) PruneEvents(ctx context.Context, before sqldb.Time) error {
	for _, statement := range []string{
		`DELETE FROM delivery_attempts WHERE at < $1`,
		`DELETE FROM deliveries WHERE created_at < $1 AND state <> 'pending'`,
		`DELETE FROM events WHERE created_at < $1 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event = seq)`,
	} {
		if err := d.Run(ctx, statement, before); err != nil {
			return err
		}
	}
	return nil
}
