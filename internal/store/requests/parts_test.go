package requests

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/requestid"
)

func TestOldPartsAreDropped(t *testing.T) {
	engines(t, Keep{For: 3 * 24 * time.Hour, Calls: 1000}, func(t *testing.T, f *fixture) {
		var ids []requestid.Number
		for range 6 {
			ids = append(ids, f.put(nil))
			f.flushed(t)
			f.clock.Move(24 * time.Hour)
		}
		f.clock.Move(time.Minute)
		f.put(nil)
		f.flushed(t)
		if got := f.ids(t, Filter{}); len(got) != 4 || got[3] != ids[3] {
			t.Errorf("%d calls are left, the oldest is %v; want 4 from %v on", len(got), got, ids[3])
		}
		s, err := f.State(t.Context(), operator, 0)
		if err != nil || s.Calls != 4 || !s.Since.Equal(noon.Truncate(24*time.Hour).Add(72*time.Hour)) {
			t.Errorf("%+v, %v", s, err)
		}
		if names := f.tables(t); len(names) != 8 {
			t.Errorf("tables of parts that were dropped are left: %v", names)
		}
		if _, err := f.Call(t.Context(), operator, 0, ids[0].String()); !fault.HasCode(err, "request_not_found") {
			t.Error(err)
		}
	})
}

func TestTheOldestPartsAreDroppedWhenThereAreTooManyCalls(t *testing.T) {
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
		if len(got) > 100 || len(got) < 80 || got[0] != ids[len(ids)-1] {
			t.Errorf("%d calls are left, want between 80 and 100 with the newest", len(got))
		}
		for _, id := range got {
			if _, err := f.Call(t.Context(), operator, 0, id.String()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
