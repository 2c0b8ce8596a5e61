package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// simulated is a server whose responses depend on the time, in milliseconds, since the
// change returned; every response takes one. Tests run with the clock of synctest.
type simulated struct {
	takenAt  time.Time // zero: not yet
	good     func(sinceTaken int) bool
	away     func(sinceTaken int) bool // nil: never
	unknown  int                       // how many requests are refused at first
	absent   int                       // how many are answered with 503 at first
	failAt   int                       // the request that fails, 0 for none
	asked    int
	refusals int // calls of onRefusal
}

func (p *simulated) observe(t *testing.T) (seen sighting, err error) {
	synctest.Test(t, func(t *testing.T) {
		seen, err = try{p.ask, p.takeBack}.observe(t.Context(), func() { p.refusals++ })
	})
	return seen, err
}

func (p *simulated) ask(context.Context) (verdict, error) {
	p.asked++
	if p.asked == p.failAt {
		return refused, errors.New("status 500")
	}
	asked := time.Now()
	time.Sleep(time.Millisecond) // of the bubble's clock
	if p.takenAt.IsZero() {
		switch {
		case p.asked <= p.absent:
			return unavailable, nil
		case p.asked <= p.unknown:
			return refused, nil
		}
		return accepted, nil
	}
	ms := int(asked.Sub(p.takenAt).Milliseconds())
	switch {
	case p.away != nil && p.away(ms):
		return unavailable, nil
	case p.good(ms):
		return accepted, nil
	}
	return refused, nil
}

func (p *simulated) takeBack(context.Context) error {
	time.Sleep(20 * time.Millisecond) // of the bubble's clock
	p.takenAt = time.Now()
	return nil
}

func TestATry(t *testing.T) {
	for name, c := range map[string]struct {
		server      simulated
		refused     time.Duration
		stale       int
		unavailable int
	}{
		"refused at once":                                {simulated{good: func(int) bool { return false }}, 1 * time.Millisecond, 0, 0},
		"refused after a moment":                         {simulated{good: func(ms int) bool { return ms < 100 }}, 101 * time.Millisecond, 0, 0},
		"good to a question of the last moment is right": {simulated{good: func(ms int) bool { return ms < 1000 }}, 1001 * time.Millisecond, 0, 0},
		"good to a question after a second is stale":     {simulated{good: func(ms int) bool { return ms < 1001 }}, 1003 * time.Millisecond, 1, 0},
		"every stale answer counts":                      {simulated{good: func(ms int) bool { return ms < 1010 }}, 1011 * time.Millisecond, 5, 0},
		"good again after a refusal is stale":            {simulated{good: func(ms int) bool { return ms >= 100 && ms < 1500 }}, 1 * time.Millisecond, 1, 0},
		"never refused: ten seconds":                     {simulated{good: func(int) bool { return true }}, refusalLimit, 4501, 0},
		"503 is neither a refusal nor stale":             {simulated{away: func(ms int) bool { return ms < 5 }, good: func(int) bool { return false }}, 7 * time.Millisecond, 0, 3},
		"503 after the grace is followed up":             {simulated{away: func(ms int) bool { return ms >= 900 && ms < 1005 }, good: func(ms int) bool { return ms < 1008 }}, 1009 * time.Millisecond, 1, 53},
		"503 to the end is not a refusal":                {simulated{away: func(int) bool { return true }}, refusalLimit, 0, 5001},
		"503 before the change is waited for":            {simulated{absent: 9, good: func(int) bool { return false }}, 1 * time.Millisecond, 0, 0},
		"a key that is known only after a moment":        {simulated{unknown: 7, good: func(int) bool { return false }}, 1 * time.Millisecond, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.server.observe(t)
			if err != nil || got != (sighting{c.refused, c.stale, c.unavailable}) {
				t.Errorf("got %+v, error %v; want %v, %d and %d", got, err, c.refused, c.stale, c.unavailable)
			}
			if once := c.refused < refusalLimit; once != (c.server.refusals == 1) {
				t.Errorf("refused was called %d times", c.server.refusals)
			}
		})
	}
}

func TestATryFails(t *testing.T) {
	for name, c := range map[string]struct {
		server simulated
		want   string
	}{
		"when an answer is neither good nor a refusal": {simulated{failAt: 5, good: func(int) bool { return true }}, "status 500"},
		"also before anything was taken back":          {simulated{failAt: 1}, "status 500"},
		"when it never was good":                       {simulated{unknown: 1 << 30}, "not accepted twice before"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.server.observe(t); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAllTries(t *testing.T) {
	next := func(failing int) func(context.Context, int) (try, error) {
		return func(_ context.Context, i int) (try, error) {
			var taken bool
			return try{
				validate: func(context.Context) (verdict, error) {
					if taken {
						return refused, nil
					}
					return accepted, nil
				},
				withdraw: func(context.Context) error {
					if taken = true; i == failing {
						return errors.New("the database is away")
					}
					return nil
				},
			}, nil
		}
	}
	t.Run("each sees its refusal", func(t *testing.T) {
		var seen []sighting
		var err error
		synctest.Test(t, func(t *testing.T) { seen, err = observeAll(t.Context(), 40, next(-1)) })
		if err != nil || len(seen) != 40 {
			t.Fatalf("%d, error %v", len(seen), err)
		}
		for i, one := range seen {
			if one.refused >= grace || one.stale != 0 {
				t.Errorf("try %d: %+v", i, one)
			}
		}
	})
	t.Run("one that fails ends them all and is named", func(t *testing.T) {
		var err error
		synctest.Test(t, func(t *testing.T) { _, err = observeAll(t.Context(), 40, next(7)) })
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
		Engine: "sqlite", Tries: 200, Revocations: 20, Stolen: 0.25, Stale: 3, Unavailable: 7,
		Median: 101 * time.Millisecond, P99: 199 * time.Millisecond, Longest: 200 * time.Millisecond,
	}
	if got := stalenessOf("sqlite", measured[[]sighting]{seen, 0.25}); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	var printed strings.Builder
	want.print(&printed)
	for _, part := range []string{"200 tries, 20 of them revoked keys", ": 3 (at most 0) !", "503: 7 !", "200.0 ms (longest)"} {
		if !strings.Contains(printed.String(), part) {
			t.Errorf("%q is not in %s", part, printed.String())
		}
	}
}
