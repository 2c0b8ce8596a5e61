package limit

import (
	"sync"
	"testing"
	"time"
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

func TestAWindowCountsForAMinuteFromItsFirstEvent(t *testing.T) {
	c := newClock()
	w := NewWindow[string](c.now)
	if w.Count("a") != 0 || w.Retry("a") != 0 {
		t.Error("an unknown key has a window")
	}
	w.Add("a")
	c.move(40 * time.Second)
	if n := w.Add("a"); n != 2 || w.Count("a") != 2 || w.Count("b") != 0 {
		t.Errorf("count %d", n)
	}
	if got := w.Retry("a"); got != 20*time.Second {
		t.Errorf("retry in %s", got)
	}
	c.move(20*time.Second - 1)
	if w.Count("a") != 2 {
		t.Error("the window ended early")
	}
	c.move(1)
	if w.Count("a") != 0 || w.Retry("a") != 0 {
		t.Error("the window did not end")
	}
	if n := w.Add("a"); n != 1 {
		t.Errorf("the next window began with %d", n)
	}
}

func TestTakeStopsAtTheLimit(t *testing.T) {
	c := newClock()
	w := NewWindow[int64](c.now)
	for i := range 3 {
		if !w.Take(7, 3) {
			t.Errorf("event %d was refused", i)
		}
	}
	if w.Take(7, 3) || w.Count(7) != 3 {
		t.Error("the fourth was taken or counted")
	}
	if !w.Take(7, 4) || !w.Take(8, 3) {
		t.Error("a higher limit or another key was refused")
	}
	c.move(time.Minute)
	if !w.Take(7, 3) || w.Count(7) != 1 {
		t.Error("the next minute was refused")
	}
}

func TestALimitOfNothingIsNone(t *testing.T) {
	w := NewWindow[int](nil)
	for range 10 {
		if !w.Take(1, 0) || !w.Take(1, -1) {
			t.Fatal("refused")
		}
	}
	if w.Count(1) != 0 {
		t.Error("counted")
	}
}

func TestTakeIsExactForManyAtOnce(t *testing.T) {
	w := NewWindow[int](newClock().now)
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
	if sum != 250 {
		t.Errorf("%d were taken", sum)
	}
}

func TestAWindowIsBounded(t *testing.T) {
	c := newClock()
	w := NewWindow[int](c.now)
	const busy = -1
	for range 50 {
		w.Add(busy)
	}
	for i := range 5 * windowKeys {
		w.Add(i)
	}
	held := 0
	for i := range w.shards {
		held += len(w.shards[i].counts)
	}
	if held > windowKeys || int64(held) != w.keys.Load() {
		t.Errorf("%d keys are held, %d counted, %d allowed", held, w.keys.Load(), windowKeys)
	}
	if w.Count(busy) != 50 {
		t.Errorf("strangers made the busy key forgotten: %d", w.Count(busy))
	}
	c.move(time.Minute)
	for i := range 1000 { // some key of every shard
		w.Count(i)
	}
	if n := w.keys.Load(); n != 0 {
		t.Errorf("%d keys are held after their minute", n)
	}
}

func TestAClockThatIsSetBackEndsTheWindows(t *testing.T) {
	c := newClock()
	w := NewWindow[string](c.now)
	w.Add("a")
	c.move(-time.Hour)
	if w.Count("a") != 0 || w.Retry("a") != 0 || w.Add("a") != 1 {
		t.Error("a window of the future counts")
	}
}
