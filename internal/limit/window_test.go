package limit

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
)

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2024, 4, 27, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// count returns how many events the key's present window has.
func count[K comparable](w *Window[K], key K) int {
	c, _ := w.find(key)
	return c.n
}

// add counts one event and returns how many the key's window has now.
func add[K comparable](w *Window[K], key K) int {
	w.Take(key, math.MaxInt)
	return count(w, key)
}

func TestAWindowCountsForAMinuteFromItsFirstEvent(t *testing.T) {
	c := newClock()
	w := NewWindow[string](time.Minute, c.now)
	if count(w, "a") != 0 || w.Retry("a") != 0 {
		t.Error("an unknown key has a window")
	}
	add(w, "a")
	c.move(40 * time.Second)
	if n := add(w, "a"); n != 2 || count(w, "a") != 2 || count(w, "b") != 0 {
		t.Errorf("count %d", n)
	}
	expect.Equalf(t, w.Retry("a"), 20*time.Second, "retry in")
	c.move(20*time.Second - 1)
	expect.Equalf(t, count(w, "a"), 2, "the window ended early")
	c.move(1)
	if count(w, "a") != 0 || w.Retry("a") != 0 {
		t.Error("the window did not end")
	}
	expect.Equalf(t, add(w, "a"), 1, "the next window began with")
}

func TestTakeStopsAtTheLimit(t *testing.T) {
	c := newClock()
	w := NewWindow[int64](time.Minute, c.now)
	for i := range 3 {
		if !w.Take(7, 3) {
			t.Errorf("event %d was refused", i)
		}
	}
	if w.Take(7, 3) || count(w, 7) != 3 {
		t.Error("the fourth was taken or counted")
	}
	if !w.Take(7, 4) || !w.Take(8, 3) {
		t.Error("a higher limit or another key was refused")
	}
	c.move(time.Minute)
	if !w.Take(7, 3) || count(w, 7) != 1 {
		t.Error("the next minute was refused")
	}
}

func TestALimitOfNothingIsNone(t *testing.T) {
	w := NewWindow[int](time.Minute, nil)
	for range 10 {
		if !w.Take(1, 0) || !w.Take(1, -1) {
			t.Fatal("refused")
		}
	}
	expect.Equalf(t, count(w, 1), 0, "counted")
}

func TestTakeIsExactForManyAtOnce(t *testing.T) {
	w := NewWindow[int](time.Minute, newClock().now)
	var taken [8]int
	var wg sync.WaitGroup
	for i := range taken {
		wg.Go(func() {
			for range 100 {
				if w.Take(1, 250) {
					taken[i]++
				}
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range taken {
		sum += n
	}
	expect.Equalf(t, sum, 250, "were taken")
}

func TestAWindowIsBounded(t *testing.T) {
	c := newClock()
	w := NewWindow[int](time.Minute, c.now)
	const busy = -1
	for range 50 {
		add(w, busy)
	}
	for i := range 5 * windowKeys {
		add(w, i)
	}
	if n := len(w.counts); n > windowKeys || int64(n) != w.keys.Load() {
		t.Errorf("%d keys are remembered, %d counted, %d allowed", n, w.keys.Load(), windowKeys)
	}
	expect.Equalf(t, count(w, busy), 50, "strangers made the busy key forgotten")
	c.move(time.Minute)
	count(w, busy)
	expect.Equalf(t, w.keys.Load(), 0, "keys are remembered after their minute")
}

func TestAClockThatIsSetBackEndsTheWindows(t *testing.T) {
	c := newClock()
	w := NewWindow[string](time.Minute, c.now)
	add(w, "a")
	c.move(-time.Hour)
	if count(w, "a") != 0 || w.Retry("a") != 0 || add(w, "a") != 1 {
		t.Error("a window of the future counts")
	}
}

func TestAWindowForgetsKeysThatDoNotComeBack(t *testing.T) {
	now := time.Date(2026, 4, 27, 12, 0, 0, 0, time.UTC)
	w := NewWindow[int](time.Minute, func() time.Time { return now })
	const perMinute = 6000
	for i := range 20 * perMinute {
		now = now.Add(time.Minute / perMinute)
		w.Take(i, 1)
	}
	if n := w.keys.Load(); n < perMinute || n > perMinute*3/2 {
		t.Errorf("%d keys are remembered, %d of them of the last minute", n, perMinute)
	}
}

func TestAHeldEventHasItsPlaceUntilItEnds(t *testing.T) {
	c := newClock()
	w := NewWindow[string](time.Minute, c.now)
	hold := func() func(bool) {
		end, ok := w.Hold("a", 2)
		if !ok {
			t.Fatal("no room")
		}
		return end
	}
	first, second := hold(), hold()
	if w.Take("a", 2) {
		t.Error("two are being tried, and a third one has room under a limit of two")
	}
	first(false)
	second(true)
	if n := count(w, "a"); n != 1 {
		t.Errorf("count %d after one that happened and one that did not", n)
	}
	late := hold()
	c.move(time.Minute)
	w.Take("a", 2)
	w.Take("a", 2)
	late(false)
	if w.Take("a", 2) {
		t.Error("an end that came late took something from the next window")
	}
}
