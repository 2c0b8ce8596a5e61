package requests

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/web"
)

// tailOverlap is how far back a tail looks again: a call is written when it was answered,
// but its id is of when it began.
const tailOverlap = 15 * time.Second

// Tail follows the log. It returns each call once.
type Tail struct {
	log    *Log
	filter Filter
	seen   map[web.RequestNumber]bool
	newest time.Time
}

// Tail begins to follow the log after the calls of a page, the newest first. f selects calls; its
// limits of ids and of the period's end do not count.
func (l *Log) Tail(f Filter, shown []Call) *Tail {
	t := &Tail{log: l, filter: f, seen: map[web.RequestNumber]bool{}, newest: l.options.Now()}
	t.filter.Before, t.filter.To, t.filter.Limit = 0, time.Time{}, maxLimit
	for _, c := range shown {
		t.seen[c.ID] = true
	}
	t.filter.From = t.newest
	if len(shown) > 0 {
		t.newest = shown[0].Time()
		t.filter.From = t.newest
	}
	return t
}

// Next returns the calls that were logged since, the oldest first.
func (t *Tail) Next(ctx context.Context, a people.Actor) (calls []Call, err error) {
	f := t.filter
	f.After = max(web.FirstRequestNumber(t.newest.Add(-tailOverlap))-1, 1)
	for {
		page, err := t.log.Calls(ctx, a, f)
		if err != nil {
			return calls, err
		}
		for _, c := range page.Calls {
			if !t.seen[c.ID] {
				t.seen[c.ID] = true
				calls = append(calls, c)
			}
			if c.Time().After(t.newest) {
				t.newest = c.Time()
			}
		}
		if page.Next == 0 {
			t.forget()
			return calls, nil
		}
		f.After = page.Next
	}
}

// forget drops what can't come again.
func (t *Tail) forget() {
	oldest := web.FirstRequestNumber(t.newest.Add(-2 * tailOverlap))
	for id := range t.seen {
		if id < oldest {
			delete(t.seen, id)
		}
	}
}
