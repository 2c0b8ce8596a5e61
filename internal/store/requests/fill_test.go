package requests

import (
	"net/netip"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/requestid"
)

// history is one call an hour of the days before now, every fifth of them failed.
func history(now time.Time, days int) (all []Entry) {
	for i := range days * 24 {
		at := now.Add(-time.Duration(days*24-i) * time.Hour)
		e := Entry{
			Number: requestid.First(at) + requestid.Number(i), Workspace: 1, Key: 2, Item: 3, Endpoint: "/api/items/all", Method: "GET", Status: 200,
			Took: time.Millisecond, Addr: netip.MustParseAddr("192.0.2.7"), Agent: "curl/8",
		}
		if i%5 == 0 {
			e.Status, e.Reason = 404, "no_items"
		}
		all = append(all, e)
	}
	return all
}

// wantCounted fails unless so many calls of a hundred days are counted.
func (f *fixture) wantCounted(t *testing.T, want int64) {
	t.Helper()
	now := f.clock.Now()
	for _, by := range []By{ByDay, ByKey, ByItem, ByResult} {
		counts, err := f.Counts(t.Context(), operator, CountQuery{Workspace: 1, From: now.AddDate(0, 0, -100), To: now.Add(time.Hour), By: by})
		var got int64
		for _, c := range counts {
			got += c.Valid + c.Failed
		}
		if err != nil || got != want {
			t.Errorf("by %s: %d calls, want %d (%v)", by, got, want, err)
		}
	}
}

func TestAFilledLogIsCountedAndFound(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		today := f.put(nil) // answered while the history was prepared
		f.flushed(t)
		calls := history(f.clock.Now(), 90)
		if filled, err := f.Fill(t.Context(), operator, calls); !filled || err != nil {
			t.Fatal(filled, err)
		}
		f.wantCounted(t, 90*24+1)
		if got := len(f.ids(t, Filter{Workspace: 1})); got != 30*24+1 {
			t.Errorf("%d calls are kept", got)
		}
		if got := f.ids(t, Filter{Workspace: 1, Result: Failed, From: f.clock.Now().AddDate(0, 0, -2)}); len(got) != 48/5 && len(got) != 48/5+1 {
			t.Errorf("%d failed calls of two days", len(got))
		}
		if _, err := f.Call(t.Context(), operator, 1, today.String()); err != nil {
			t.Error(err)
		}
		if filled, err := f.Fill(t.Context(), operator, calls); filled || err != nil {
			t.Errorf("the second time: %t, %v", filled, err)
		}
		f.clock.Move(2 * time.Hour)
		f.put(nil)
		f.flushed(t) // prunes, too
		f.wantCounted(t, 90*24+2)
	})
}

func TestALogWithCallsIsNotFilled(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		f.put(nil)
		f.flushed(t)
		f.clock.Move(24 * time.Hour)
		if filled, err := f.Fill(t.Context(), operator, history(f.clock.Now(), 3)); filled || err != nil {
			t.Errorf("%t, %v", filled, err)
		}
		if filled, err := f.Fill(t.Context(), people.Actor{}, nil); filled || err == nil {
			t.Errorf("as nobody: %t, %v", filled, err)
		}
	})
}
