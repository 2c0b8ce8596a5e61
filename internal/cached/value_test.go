package cached

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/expect"
)

// counter is a value that is the number of its reads.
type counter struct {
	Value[int]
	reads  atomic.Int64
	during func() // what happens during a read
	broken atomic.Bool
}

var errBroken = errors.New("broken")

func newCounter() *counter {
	c := &counter{during: func() {}}
	c.Watch(func(context.Context) (*int, error) {
		n := int(c.reads.Add(1))
		c.during()
		if c.broken.Load() {
			return &n, errBroken
		}
		return &n, nil
	}, "mine")
	return c
}

func TestAValueIsCachedWhileItIsTrue(t *testing.T) {
	c := newCounter()
	want := func(what string, n int) {
		t.Helper()
		if got, err := c.Get(t.Context()); err != nil || *got != n {
			t.Errorf("%s: read %v, %v, want %d", what, got, err, n)
		}
	}
	want("nothing is cached before changes by others arrive", 1)
	want("nothing is cached before changes by others arrive", 2)
	c.Live()
	want("what was read before is not cached", 3)
	want("it is cached", 3)
	c.changed("another", "")
	want("a change of something else leaves it", 3)
	c.changed("mine", "")
	want("a change drops it", 4)
	c.Lost()
	want("nothing is cached while the feed is lost", 5)
	want("nothing is cached while the feed is lost", 6)
	c.Live()
	for what, meanwhile := range map[string]func(){
		"a change during the read":             func() { c.changed("mine", "") },
		"a loss of the feed during the read":   func() { c.Lost(); c.Live() },
		"a return of the feed during the read": c.Live,
	} {
		c.Live()
		c.during = meanwhile
		want(what, int(c.reads.Load())+1)
		c.during = func() {}
		if c.Cached() != nil {
			t.Errorf("%s: it is cached", what)
		}
	}
	want("it is cached again", int(c.reads.Load())+1)
	want("it is cached again", int(c.reads.Load()))
}

func TestAReadThatFailsIsNotCached(t *testing.T) {
	c := newCounter()
	c.Live()
	c.broken.Store(true)
	if got, err := c.Get(t.Context()); got != nil || !errors.Is(err, errBroken) {
		t.Errorf("%v, %v", got, err)
	}
	if c.Cached() != nil {
		t.Error("it is cached")
	}
}

func TestFillReadsWhatWasDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		c := newCounter()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.Fill(ctx)
		}()
		want := func(what string, reads int, cached bool) {
			t.Helper()
			synctest.Wait()
			if n := int(c.reads.Load()); n != reads || (c.Cached() != nil) != cached {
				t.Errorf("%s: %d reads, want %d; cached %t, want %t", what, n, reads, c.Cached() != nil, cached)
			}
		}
		want("before the feed is live", 0, false)
		c.Live()
		want("live", 1, true)
		c.changed("mine", "")
		want("after a change", 2, true)
		c.Lost()
		want("after the loss of the feed", 2, false)
		c.broken.Store(true)
		c.Live()
		want("a read that fails", 3, false)
		c.broken.Store(false)
		time.Sleep(fillRetry) // of the bubble's clock
		want("a second attempt", 4, true)
		stop()
		<-ended
	})
}

// A crowd that wants the value reads it once, and nobody gets what was read before a
// change that had come when they asked.
func TestACrowdReadsAValueOnce(t *testing.T) {
	for _, test := range []struct {
		name      string
		meanwhile func(*Value[int])
		want      int64
	}{
		{"who asks during a read shares it", func(*Value[int]) {}, 1},
		{"but not across a change", func(v *Value[int]) { v.changed("mine", "") }, 2},
		{"and not while changes of others don't arrive", (*Value[int]).Lost, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var v Value[int]
				var reads atomic.Int64
				release := make(chan struct{})
				v.Watch(func(context.Context) (*int, error) {
					reads.Add(1)
					<-release
					return new(int), nil
				}, "mine")
				v.Live()
				results := make(chan error, 2)
				get := func() {
					_, err := v.Get(t.Context())
					results <- err
				}
				go get()
				synctest.Wait()
				test.meanwhile(&v)
				go get()
				synctest.Wait()
				close(release)
				for range 2 {
					expect.NoError(t, <-results)
				}
				if got := reads.Load(); got != test.want {
					t.Errorf("read %d times, want %d", got, test.want)
				}
			})
		})
	}
}
