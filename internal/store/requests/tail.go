package requests

import (
	"cmp"
	"context"
	"time"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/requestid"
)

const (
	// tailOverlap is how far back a tail looks again: a call is written when it was answered,
	// but its id is of when it began.
	tailOverlap = 15 * time.Second
	// Watched is how many calls at most somebody gets at once who watches, and watchBack how far back a watch may begin.
	Watched   = 100
	watchBack = 5 * time.Minute
)

// Tail follows the log. It returns each call once.
type Tail struct {
	log    *Log
	filter Filter
	floor  requestid.Number // calls up to this one are not returned
	newest time.Time
	seen   map[requestid.Number]bool
}

// Tail begins to follow the log behind the calls that were shown, the newest first. f selects
// calls; its limits of ids and of time do not count.
func (l *Log) Tail(f Filter, shown []Call) *Tail {
	f.To, f.Before, f.After = time.Time{}, 0, 0
	now := l.options.Now()
	t := &Tail{log: l, filter: f, floor: requestid.First(now) - 1, newest: now, seen: map[requestid.Number]bool{}}
	if len(shown) > 0 {
		t.floor, t.newest = shown[0].ID, shown[0].Time()
	}
	return t
}

// Watch begins to follow the log for somebody who watches, from shortly before a call on: those around it may come
// again. 0 is now.
func (l *Log) Watch(f Filter, last requestid.Number) *Tail {
	t := l.Tail(f, nil)
	if last != 0 {
		t.floor = 0
		if last.Time().Before(t.newest) {
			t.newest = later(last.Time(), t.newest.Add(-watchBack))
		}
	}
	return t
}

// Next returns the calls that were logged since, the newest first: all for 0, else only the newest ones up to a limit.
// more reports that there may be others between these and those before.
func (t *Tail) Next(ctx context.Context, a people.Actor, limit int) (calls []Call, more bool, err error) {
	f := t.filter
	f.From, f.Limit = t.newest.Add(-tailOverlap), cmp.Or(limit, maxLimit)
	for next := requestid.Number(1); next != 0 && (limit == 0 || f.Before == 0); f.Before = next {
		page, err := t.log.Calls(ctx, a, f)
		if err != nil {
			return nil, false, err
		}
		next = page.Next
		more = next != 0
		for _, c := range page.Calls {
			t.newest = later(t.newest, c.Time())
			switch {
			case t.seen[c.ID]:
				more = false
			case c.ID > t.floor:
				t.seen[c.ID] = true
				calls = append(calls, c)
			}
		}
	}
	t.newest = later(t.newest, t.log.options.Now().Add(-watchBack))
	for id := range t.seen { // what can't come again
		if id < requestid.First(t.newest.Add(-2*tailOverlap)) {
			delete(t.seen, id)
		}
	}
	return calls, more, nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
