package api

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/web"
)

// answerTime is how long an answer may take after the wait for events.
const answerTime = 15 * time.Second

// listEvents answers GET /api-addons/iap/events: the events after a place. With wait it waits up to
// so many seconds for the first one, but not while the server stops.
func (f *frontEnd) listEvents(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.site(w, r, nil)
	if err != nil {
		return err
	}
	p, err := web.ReadParams(w, r, "after", "limit", "wait")
	if err != nil {
		return err
	}
	after, err := number(p, "after", 0, 0, math.MaxInt64)
	if err != nil {
		return err
	}
	limit, err := number(p, "limit", events.DefaultLimit, 1, events.MaxLimit)
	if err != nil {
		return err
	}
	seconds, err := number(p, "wait", 0, 0, int64(events.MaxWait/time.Second))
	if err != nil {
		return err
	}
	if seconds == 0 {
		feed, err := f.addon.Events.List(r.Context(), actor, after, int(limit))
		return writeFeed(w, feed, err)
	}
	wait := time.Duration(seconds) * time.Second
	ctx, done := waiting(w, r, wait)
	defer done()
	feed, err := f.addon.Events.Wait(ctx, actor, after, int(limit), wait)
	if ctx.Err() != nil && r.Context().Err() == nil { // the server stops
		feed, err = events.Feed{Cursor: after}, nil
	}
	return writeFeed(w, feed, err)
}

// waiting returns a context for a response that waits: it ends when the server stops. The
// deadlines of the connection move: net/http ends a request whose connection is silent for long.
func waiting(w http.ResponseWriter, r *http.Request, wait time.Duration) (context.Context, func()) {
	withoutReadDeadline(w)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + answerTime))
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		select {
		case <-web.Stopping(w):
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func writeFeed(w http.ResponseWriter, feed events.Feed, err error) error {
	if err != nil {
		return publicPurchase(err)
	}
	view := func(e events.Item) countersign.IAPFeedEvent {
		return countersign.IAPFeedEvent{Seq: e.Seq, Event: e.Body}
	}
	return web.Object(w, struct {
		Status string `json:"status"`
		countersign.IAPFeed
	}{"success", countersign.IAPFeed{Events: sqldb.Convert(feed.Events, view), Cursor: feed.Cursor, Missed: feed.Missed}})
}
