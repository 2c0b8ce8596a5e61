package requests

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/requestid"
)

func TestOldBlocksAreDeleted(t *testing.T) {
	engines(t, Keep{For: 3 * 24 * time.Hour, Calls: 1000}, func(t *testing.T, f *fixture) {
		var ids []requestid.Number
		for range 6 {
			ids = append(ids, f.put(nil))
			f.flushed(t)
			f.clock.Move(24 * time.Hour)
		}
		f.put(nil)
		f.flushed(t)
		if got := f.ids(t, Filter{}); len(got) != 4 || got[3] != ids[3] {
			t.Errorf("%d calls are left, the oldest is %v; want 4 from %v on", len(got), got, ids[3])
		}
		if s, err := f.State(t.Context(), operator, 0); err != nil || s.Calls != 4 || !s.Since.Equal(noon.Add(72*time.Hour)) || f.blocks(t) != 4 {
			t.Errorf("%+v, %v", s, err)
		}
		if _, err := f.Call(t.Context(), operator, 0, ids[0].String()); !fault.HasCode(err, "request_not_found") {
			t.Error(err)
		}
	})
}

func TestTheOldestBlocksAreDeletedWhenThereAreTooManyCalls(t *testing.T) {
	engines(t, Keep{For: 3 * 24 * time.Hour, Calls: 100}, func(t *testing.T, f *fixture) {
		var ids []requestid.Number
		for range 60 {
			for range 5 {
				ids = append(ids, f.put(nil))
			}
			f.flushed(t)
			f.clock.Move(5 * time.Second)
		}
		got := f.ids(t, Filter{Workspace: 1})
		if len(got) > 100 || len(got) < 95 || got[0] != ids[len(ids)-1] {
			t.Errorf("%d calls are left, want between 95 and 100 with the newest", len(got))
		}
		for _, id := range got {
			if _, err := f.Call(t.Context(), operator, 0, id.String()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A block of two days would be kept as long as its last call.
func TestBlocksOfDifferentDaysAreNotMerged(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		for day := range 3 {
			for range 4 {
				f.put(func(e *Entry) { e.Item = int64(day) })
				f.flushed(t)
				f.clock.Move(time.Minute)
			}
			f.clock.Move(24 * time.Hour)
		}
		before := f.ids(t, Filter{})
		f.small = smallBlocks
		f.flushed(t)
		if n := f.blocks(t); n != 3 || f.small != 0 {
			t.Errorf("%d blocks", n)
		}
		if after := f.ids(t, Filter{}); len(after) != 12 || after[0] != before[0] || after[11] != before[11] {
			t.Errorf("%v, before %v", after, before)
		}
		if got := f.ids(t, Filter{Item: 1}); len(got) != 4 {
			t.Errorf("%d calls of an item", len(got))
		}
	})
}
