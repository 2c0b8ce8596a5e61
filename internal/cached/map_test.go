package cached

import (
	"context"
	"errors"
	"testing"

	"github.com/maypok86/otter/v2"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func newMap(bytes int64) *Map[int, string] {
	var m Map[int, string]
	SetCapacity(&m, bytes, func(s string) int { return len(s) })
	m.Live()
	return &m
}

func TestAMapCachesUnlessSomethingChangedMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name      string
		meanwhile func(*Map[int, string])
		want      bool
	}{
		{"a read without a change is cached", func(*Map[int, string]) {}, true},
		{"a change of the key drops it", func(m *Map[int, string]) { m.Drop(7) }, false},
		{"a change of all drops it", (*Map[int, string]).DropAll, false},
		{"a feed that was lost drops it", (*Map[int, string]).Lost, false},
		{"a feed that was lost and came back drops it", func(m *Map[int, string]) { m.Lost(); m.Live() }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			during, after := newMap(1000), newMap(1000)
			_, _, since := during.Find(7)
			c.meanwhile(during)
			during.Store(7, "seven", since)
			if _, found, _ := during.Find(7); found != c.want {
				t.Errorf("a change during the read: cached %t, want %t", found, c.want)
			}
			_, _, since = after.Find(7)
			after.Store(7, "seven", since)
			c.meanwhile(after)
			if got, found, _ := after.Find(7); found != c.want || found && got != "seven" {
				t.Errorf("a change after the read: cached %t (%s), want %t", found, got, c.want)
			}
		})
	}
}

func TestAChangeOfOneKeyLeavesOthers(t *testing.T) {
	m := newMap(1000)
	_, _, since := m.Find(7)
	m.Store(7, "seven", since)
	m.Drop(8)
	if _, found, _ := m.Find(7); !found {
		t.Error("a change of one key dropped another")
	}
}

func TestAMapStaysWithinItsRoom(t *testing.T) {
	const room = 10_000
	m := newMap(room)
	_, _, since := m.Find(0)
	for i := range 1000 {
		m.Store(i, string(make([]byte, 100)), since)
	}
	values := m.values.(*otter.Cache[int, string])
	values.CleanUp()
	if got := values.WeightedSize(); got > room || got < room/2 {
		t.Errorf("%d bytes are cached, want up to %d", got, room)
	}
}

func TestAMapWithoutRoomKeepsNothing(t *testing.T) {
	var m Map[int, string]
	m.Live()
	_, _, since := m.Find(7)
	m.Store(7, "seven", since)
	m.Drop(7)
	m.DropAll()
	if _, found, _ := m.Find(7); found || m.HasRoom() {
		t.Error("it keeps a value")
	}
}

// Who began a read may leave at once: the others still get it.
func TestASharedReadGoesOn(t *testing.T) {
	m := newMap(1000)
	ctx, leave := context.WithCancel(t.Context())
	_, _, since := m.Find(7)
	left, ended := make(chan struct{}), make(chan error, 1)
	_, err := m.Share(ctx, 7, since, func(ctx context.Context) (string, error) {
		leave()
		<-left
		m.Store(7, "seven", since)
		ended <- ctx.Err()
		return "seven", nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	close(left)
	must.Do(t, <-ended)
	if _, found, _ := m.Find(7); !found {
		t.Error("what was read is not cached")
	}
}

func TestAPanicOfASharedReadIsThatOfItsCaller(t *testing.T) {
	m := newMap(1000)
	_, _, since := m.Find(7)
	defer func() {
		expect.Equalf(t, recover(), "broken", "the caller did not panic")
	}()
	_, _ = m.Share(t.Context(), 7, since, func(context.Context) (string, error) { panic("broken") })
}
