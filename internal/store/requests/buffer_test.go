package requests

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAFullBufferDropsAndCounts(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		f.flushed(t)
		for range room {
			f.put(nil)
		}
		f.clock.Move(time.Second)
		f.put(nil)
		f.clock.Move(3 * time.Second)
		f.put(nil)
		f.flushed(t)
		f.clock.Move(30 * time.Second)
		want := []Gap{{noon.Add(time.Second), noon.Add(4 * time.Second), 2}}
		s, err := f.State(t.Context(), operator, 0)
		if diff := cmp.Diff(want, s.Gaps); err != nil || diff != "" || s.Dropped != 2 || s.Written != room || s.Calls != room {
			t.Errorf("%+v, %v, %s", s, err, diff)
		}
		other := New(Options{See: operatorOnly, Dir: f.place.Dir, URL: f.place.URL, Now: f.clock.Now, Log: discard})
		defer other.Close()
		if s, err := other.State(t.Context(), operator, 0); err != nil || cmp.Diff(want, s.Gaps) != "" || s.On {
			t.Errorf("another process: %+v, %v", s, err)
		}
	})
}

func TestGapsThatAreCloseAreOne(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		f.flushed(t)
		drop := func() {
			f.mu.Lock()
			f.gap.add(f.clock.Now(), 3)
			f.mu.Unlock()
			f.flushed(t)
		}
		drop()
		f.clock.Move(30 * time.Second)
		drop()
		f.clock.Move(2 * time.Minute)
		drop()
		s, err := f.State(t.Context(), operator, 0)
		want := []Gap{{noon.Add(150 * time.Second), noon.Add(150 * time.Second), 3}, {noon, noon.Add(30 * time.Second), 6}}
		if diff := cmp.Diff(want, s.Gaps); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}
