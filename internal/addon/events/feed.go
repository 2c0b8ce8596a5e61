package events

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// MaxWait is how long [Service.Wait] waits at most.
	MaxWait = 25 * time.Second
	// DefaultLimit and MaxLimit are how many events one call returns.
	DefaultLimit = 100
	MaxLimit     = 500
)

// Feed is a part of the feed.
type Feed struct {
	Events []Item
	// Cursor is where to go on: the place of the last event.
	Cursor int64
	// Missed reports that events after the given place were deleted before they were read.
	// The reader has to read all memberships again.
	Missed bool
}

// List reads the events after a place, 0 for the oldest, in their order. limit is 1 to
// [MaxLimit], 0 for [DefaultLimit]. A place that the feed has not reached is an error of kind
// Invalid (cursor_unknown): the database was restored from a backup.
func (s *Service) List(ctx context.Context, a people.Actor, after int64, limit int) (Feed, error) {
	if err := s.access.May(a, access.ReadEvents); err != nil {
		return Feed{}, err
	}
	if limit == 0 {
		limit = DefaultLimit
	}
	if limit < 1 || limit > MaxLimit || after < 0 {
		return Feed{}, fault.Invalid(fault.CodeInvalid, fmt.Sprintf("The limit is 1 to %d, and the place is not negative", MaxLimit))
	}
	var rows []addondb.Event
	var oldest, newest int64
	err := s.db.Snapshot(ctx, func(tx *addondb.DB) (err error) {
		if oldest, newest, err = tx.EventRange(ctx); err != nil {
			return err
		}
		rows, err = tx.EventsAfter(ctx, after, limit)
		return err
	})
	if err != nil {
		return Feed{}, err
	}
	if after > newest {
		return Feed{}, fault.Invalid("cursor_unknown", "The feed has no event of this place: its database was restored from a backup. Read all memberships and begin at 0")
	}
	f := Feed{Events: sqldb.Convert(rows, itemOf), Cursor: after, Missed: after > 0 && after+1 < oldest}
	if len(rows) > 0 {
		f.Cursor = rows[len(rows)-1].Seq
	}
	return f, nil
}

// About lists the newest events of a user, the newest first.
func (s *Service) About(ctx context.Context, a people.Actor, user string, limit int) ([]Item, error) {
	if err := s.access.May(a, access.ReadEvents); err != nil {
		return nil, err
	}
	rows, err := s.db.EventsOf(ctx, user, limit)
	return sqldb.Convert(rows, itemOf), err
}

// Wait is List, and waits up to [MaxWait] for the first event. It returns an empty
// part when the time has passed or the addon stops.
func (s *Service) Wait(ctx context.Context, a people.Actor, after int64, limit int, wait time.Duration) (Feed, error) {
	timer := time.NewTimer(min(wait, MaxWait))
	defer timer.Stop()
	for {
		news := s.nextNews() // before the read: what comes after it is not missed
		feed, err := s.List(ctx, a, after, limit)
		if err != nil || len(feed.Events) > 0 || feed.Missed {
			return feed, err
		}
		select {
		case <-news:
		case <-timer.C:
			return feed, nil
		case <-s.ended:
			return feed, nil
		case <-ctx.Done():
			return feed, ctx.Err()
		}
	}
}
