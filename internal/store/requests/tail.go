package requests

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/requestid"
)

// tailOverlap is how far back a tail looks again: a call is written when it was answered,
// but its id is of when it began.
const tailOverlap = 15 * time.Second

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
	f.From, f.To, f.Before, f.Limit = time.Time{}, time.Time{}, 0, maxLimit
	now := l.options.Now()
	t := &Tail{log: l, filter: f, floor: requestid.First(now) - 1, newest: now, seen: map[requestid.Number]bool{}}
	if len(shown) > 0 {
		t.floor, t.newest = shown[0].ID, shown[0].Time()
	}
	return t
}

// Next returns the calls that were logged since, the oldest first.
func (t *Tail) Next(ctx context.Context, a people.Actor) (calls []Call, err error) {
	f := t.filter
	f.After = max(requestid.First(t.newest.Add(-tailOverlap))-1, t.floor)
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

// What somebody who watches calls gets at once, and how far back a watch may begin.
const (
	watched   = 100
	watchBack = 5 * time.Minute
)

// Watch begins to follow the log for somebody who watches, from shortly before a call on: those around it may come
// again. 0 is now.
func (l *Log) Watch(f Filter, last requestid.Number) *Tail {
	t := l.Tail(f, nil)
	if last != 0 {
		t.floor = 0
		if back := t.newest.Add(-watchBack); last.Time().Before(back) {
			t.newest = back
		} else if last.Time().Before(t.newest) {
			t.newest = last.Time()
		}
	}
	return t
}

// Latest is [Tail.Next] for a reader who can't follow every call: it returns the newest ones, a hundred at most, the
// newest first. more reports that there may be others between these and those before.
func (t *Tail) Latest(ctx context.Context, a people.Actor) (calls []Call, more bool, err error) {
	f, now := t.filter, t.log.options.Now()
	f.From, f.After, f.Limit = t.newest.Add(-tailOverlap), 0, watched
	page, err := t.log.Calls(ctx, a, f)
	if err != nil {
		return nil, false, err
	}
	more = page.Next != 0
	for _, c := range page.Calls {
		switch {
		case t.seen[c.ID]:
			more = false
		case c.ID > t.floor:
			t.seen[c.ID] = true
			calls = append(calls, c)
		}
	}
	t.newest = now
	t.forget()
	return calls, more, nil
}

// forget drops what can't come again.
func (t *Tail) forget() {
	oldest := requestid.First(t.newest.Add(-2 * tailOverlap))
	for id := range t.seen {
		if id < oldest {
			delete(t.seen, id)
		}
	}
}
