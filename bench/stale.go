package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// A try asks a server about a valid code until the server has it in memory (two
// answers of 200), has the code refunded, or the key revoked, by another process,
// and asks on from the moment at which that has returned: one question a
// millisecond, or as fast as answers come, until the first refusal, and once more
// when the grace of one second is over. A 200 to a question that was asked after the
// grace is a stale answer.
//
// On PostgreSQL the other process is the harness itself, with a store of its own on
// the same database; on SQLite it is a command beside the server, whose end counts as
// the return.

// grace is how long an answer may be as it was before a change by another process.
const grace = time.Second

// refusalTimeout is how long a try waits for a refusal.
const refusalTimeout = 10 * grace

// try is one question whose answer is taken back.
type try struct {
	ask      func(context.Context) (verdict, error)
	takeBack func(context.Context) error
}

// sighting is what one try saw.
type sighting struct {
	refused time.Duration // to the first refusal; refusalTimeout when there was none
	stale   int           // answers
	// unavailable are the answers of 503 since the change had returned: neither stale
	// nor a refusal.
	unavailable int
}

// observer watches tries. The clock is the harness's own except in tests.
type observer struct {
	now  func() time.Time
	wait func(context.Context, time.Duration)
}

// observe makes one try. onRefusal is called when nothing is left but to ask once more.
func (o observer) observe(ctx context.Context, t try, onRefusal func()) (sighting, error) {
	if err := o.awaitGood(ctx, t); err != nil {
		return sighting{}, err
	}
	if err := t.takeBack(ctx); err != nil {
		return sighting{}, err
	}
	returned := o.now()
	seen := sighting{refused: refusalTimeout}
	for pause := time.Millisecond; ctx.Err() == nil; o.wait(ctx, pause) {
		asked := o.now().Sub(returned)
		said, err := t.ask(ctx)
		if err != nil {
			return seen, err
		}
		switch {
		case said == unavailable:
			seen.unavailable++
		case said == good && asked >= grace:
			seen.stale++
		case said == refused && seen.refused == refusalTimeout:
			seen.refused = o.now().Sub(returned)
			pause = max(pause, grace-seen.refused)
			onRefusal()
		}
		if asked >= refusalTimeout || (asked >= grace && said == refused) {
			break
		}
	}
	return seen, ctx.Err()
}

// awaitGood asks until two answers were good: a key of another process is known only
// after a moment.
func (o observer) awaitGood(ctx context.Context, t try) error {
	began := o.now()
	for times := 0; times < 2; {
		said, err := t.ask(ctx)
		switch {
		case err != nil:
			return err
		case said == good:
			times++
		case o.now().Sub(began) >= refusalTimeout:
			return errors.New("no two answers were good before anything was taken back")
		default:
			o.wait(ctx, time.Millisecond)
		}
	}
	return nil
}

// observeAll makes n tries, so many at once before their first refusal.
func (o observer) observeAll(ctx context.Context, n, atOnce int, next func(ctx context.Context, i int) (try, error)) ([]sighting, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := make(chan struct{}, atOnce)
	seen := make([]sighting, n)
	var tries sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		tries.Go(func() {
			leave := sync.OnceFunc(func() { <-slots })
			defer leave()
			t, err := next(ctx, i)
			if err == nil {
				seen[i], err = o.observe(ctx, t, leave)
			}
			if err != nil {
				stop(fmt.Errorf("try %d: %w", i, err))
			}
		})
		if ctx.Err() != nil {
			break
		}
	}
	tries.Wait()
	return seen, context.Cause(ctx)
}

// staleness is what all tries on an engine came to.
type staleness struct {
	Engine string `json:"engine"`
	Tries  int    `json:"tries"`
	// Revocations are the tries that revoked a key; the others refunded a purchase.
	Revocations int `json:"revocations"`
	Stale       int `json:"stale_answers"`
	// Unavailable are answers of 503 after a change.
	Unavailable int `json:"unavailable_answers"`
	// The times from the return of the change to the first refusal.
	Median  time.Duration `json:"median_ns"`
	P99     time.Duration `json:"p99_ns"`
	Longest time.Duration `json:"longest_ns"`
	// Stolen is the share of the processors' time, 0 to 1, that other machines took.
	Stolen float64 `json:"stolen"`
}

func stalenessOf(engine string, seen []sighting) staleness {
	s := staleness{Engine: engine, Tries: len(seen)}
	times := make([]time.Duration, len(seen))
	for i, one := range seen {
		s.Stale += one.stale
		s.Unavailable += one.unavailable
		times[i] = one.refused
		if revokes(engine, i) {
			s.Revocations++
		}
	}
	slices.Sort(times)
	s.Median, s.P99, s.Longest = times[len(times)/2], times[len(times)*99/100], times[len(times)-1]
	return s
}

func printStale(out io.Writer, s staleness) {
	fmt.Fprintf(out, "\n%s, answers taken back by another process: %d tries, %d of them revoked keys; stale answers after %s: %d (at most 0)%s; answers of 503: %d%s; "+
		"first refusal after %.1f ms (median), %.1f ms (p99), %.1f ms (longest); stolen %.0f %%\n",
		s.Engine, s.Tries, s.Revocations, grace, s.Stale, flagged(s.Stale), s.Unavailable, flagged(s.Unavailable), milliseconds(s.Median), milliseconds(s.P99), milliseconds(s.Longest), 100*s.Stolen)
}

// flagged marks a count of what must not be.
func flagged(n int) string {
	if n > 0 {
		return " !"
	}
	return ""
}
