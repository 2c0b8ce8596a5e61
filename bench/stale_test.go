package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// pretended is a server whose answers depend on the time, in milliseconds, since
// its answer was taken back; every answer takes one.
type pretended struct {
	clock    time.Time
	takenAt  time.Time // zero: not yet
	good     func(sinceTaken int) bool
	away     func(sinceTaken int) bool // nil: never
	unknown  int                       // how many questions are refused at first
	absent   int                       // how many are answered with 503 at first
	failAt   int                       // the question that fails, 0 for none
	asked    int
	refusals int // calls of refused
}

func (p *pretended) observe() (sighting, error) {
	o := observer{
		now:  func() time.Time { return p.clock },
		wait: func(_ context.Context, d time.Duration) { p.clock = p.clock.Add(d) },
	}
	return o.observe(context.Background(), try{p.ask, p.takeBack}, func() { p.refusals++ })
}

func (p *pretended) ask(context.Context) (verdict, error) {
	p.asked++
	if p.asked == p.failAt {
		return refused, errors.New("status 500")
	}
	asked := p.clock
	p.clock = p.clock.Add(time.Millisecond)
	if p.takenAt.IsZero() {
		switch {
		case p.asked <= p.absent:
			return unavailable, nil
		case p.asked <= p.unknown:
			return refused, nil
		}
		return good, nil
	}
	ms := int(asked.Sub(p.takenAt).Milliseconds())
	switch {
	case p.away != nil && p.away(ms):
		return unavailable, nil
	case p.good(ms):
		return good, nil
	}
	return refused, nil
}

func (p *pretended) takeBack(context.Context) error {
	p.clock = p.clock.Add(20 * time.Millisecond)
	p.takenAt = p.clock
	return nil
}

func TestATry(t *testing.T) {
	for name, c := range map[string]struct {
		server      pretended
		refused     time.Duration
		stale       int
		unavailable int
	}{
		"refused at once":                                {pretended{good: func(int) bool { return false }}, 1 * time.Millisecond, 0, 0},
		"refused after a moment":                         {pretended{good: func(ms int) bool { return ms < 100 }}, 101 * time.Millisecond, 0, 0},
		"good to a question of the last moment is right": {pretended{good: func(ms int) bool { return ms < 1000 }}, 1001 * time.Millisecond, 0, 0},
		"good to a question after a second is stale":     {pretended{good: func(ms int) bool { return ms < 1001 }}, 1003 * time.Millisecond, 1, 0},
		"every stale answer counts":                      {pretended{good: func(ms int) bool { return ms < 1010 }}, 1011 * time.Millisecond, 5, 0},
		"good again after a refusal is stale":            {pretended{good: func(ms int) bool { return ms >= 100 && ms < 1500 }}, 1 * time.Millisecond, 1, 0},
		"never refused: ten seconds":                     {pretended{good: func(int) bool { return true }}, refusalTimeout, 4501, 0},
		"503 is neither a refusal nor stale":             {pretended{away: func(ms int) bool { return ms < 5 }, good: func(int) bool { return false }}, 7 * time.Millisecond, 0, 3},
		"503 after the grace is followed up":             {pretended{away: func(ms int) bool { return ms >= 900 && ms < 1005 }, good: func(ms int) bool { return ms < 1008 }}, 1009 * time.Millisecond, 1, 53},
		"503 to the end is no refusal":                   {pretended{away: func(int) bool { return true }}, refusalTimeout, 0, 5001},
		"503 before the change is waited for":            {pretended{absent: 9, good: func(int) bool { return false }}, 1 * time.Millisecond, 0, 0},
		"a key that is known only after a moment":        {pretended{unknown: 7, good: func(int) bool { return false }}, 1 * time.Millisecond, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c.server.clock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			got, err := c.server.observe()
			if err != nil || got != (sighting{c.refused, c.stale, c.unavailable}) {
				t.Errorf("got %+v, error %v; want %v, %d and %d", got, err, c.refused, c.stale, c.unavailable)
			}
			if once := c.refused < refusalTimeout; once != (c.server.refusals == 1) {
				t.Errorf("refused was called %d times", c.server.refusals)
			}
		})
	}
}

func TestATryFails(t *testing.T) {
	for name, c := range map[string]struct {
		server pretended
		want   string
	}{
		"when an answer is neither good nor a refusal": {pretended{failAt: 5, good: func(int) bool { return true }}, "status 500"},
		"also before anything was taken back":          {pretended{failAt: 1}, "status 500"},
		"when it never was good":                       {pretended{unknown: 1 << 30}, "no two answers were good before"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.server.observe(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAllTries(t *testing.T) {
	var clock atomic.Int64
	o := observer{
		now:  func() time.Time { return time.Unix(0, clock.Add(1000)) },
		wait: func(_ context.Context, d time.Duration) { clock.Add(int64(d)) },
	}
	next := func(failing int) func(context.Context, int) (try, error) {
		return func(_ context.Context, i int) (try, error) {
			var taken bool
			return try{
				ask: func(context.Context) (verdict, error) {
					if taken {
						return refused, nil
					}
					return good, nil
				},
				takeBack: func(context.Context) error {
					if taken = true; i == failing {
						return errors.New("the database is away")
					}
					return nil
				},
			}, nil
		}
	}
	t.Run("each sees its refusal", func(t *testing.T) {
		seen, err := o.observeAll(context.Background(), 40, 4, next(-1))
		if err != nil || len(seen) != 40 {
			t.Fatalf("%d, error %v", len(seen), err)
		}
		for i, one := range seen {
			if one.refused <= 0 || one.stale != 0 {
				t.Errorf("try %d: %+v", i, one)
			}
		}
	})
	t.Run("one that fails ends them all and is named", func(t *testing.T) {
		_, err := o.observeAll(context.Background(), 40, 4, next(7))
		if err == nil || !strings.Contains(err.Error(), "try 7: the database is away") {
			t.Errorf("error %v", err)
		}
	})
}

func TestStalenessSumsTries(t *testing.T) {
	seen := make([]sighting, 200)
	for i := range seen {
		seen[i].refused = time.Duration(200-i) * time.Millisecond
	}
	seen[3].stale, seen[4].stale = 2, 1
	seen[4].unavailable, seen[5].unavailable = 3, 4
	want := staleness{
		Engine: "sqlite", Tries: 200, Revocations: 100, Stale: 3, Unavailable: 7,
		Median: 101 * time.Millisecond, P99: 199 * time.Millisecond, Longest: 200 * time.Millisecond,
	}
	if got := stalenessOf("sqlite", seen); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	var printed strings.Builder
	printStale(&printed, want)
	for _, part := range []string{"200 tries, 100 of them revoked keys", ": 3 (at most 0) !", "503: 7 !", "200.0 ms (longest)"} {
		if !strings.Contains(printed.String(), part) {
			t.Errorf("%q is not in %s", part, printed.String())
		}
	}
	if got := stalenessOf("postgres", seen); got.Revocations != 20 {
		t.Errorf("on PostgreSQL every tenth try revokes a key; got %d of 200", got.Revocations)
	}
}
