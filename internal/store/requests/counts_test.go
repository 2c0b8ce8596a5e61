package requests

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCallsAreCounted(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		for i := range 60 { // from noon on, four hours apart: ten days
			f.put(func(e *Entry) {
				e.Item, e.Key = int64(1+i%2), int64(1+i%3)
				if i%4 == 0 {
					e.Reason = "purchase_not_found"
				}
			})
			f.put(func(e *Entry) { e.Workspace = 2 })
			f.clock.Move(4 * time.Hour)
			f.flushed(t)
		}
		counts := func(q CountQuery) []Count {
			t.Helper()
			q.Workspace = 1
			list, err := f.Counts(t.Context(), operator, q)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		end := f.clock.Now()
		day := noon.Truncate(24 * time.Hour)
		for name, c := range map[string]struct {
			q    CountQuery
			want []Count
		}{
			"by item":             {CountQuery{From: noon, To: end, By: ByItem}, []Count{{ID: 1, Valid: 15, Failed: 15}, {ID: 2, Valid: 30}}},
			"by key":              {CountQuery{From: noon, To: end, By: ByKey}, []Count{{ID: 1, Valid: 15, Failed: 5}, {ID: 2, Valid: 15, Failed: 5}, {ID: 3, Valid: 15, Failed: 5}}},
			"by result":           {CountQuery{From: noon, To: end, By: ByResult}, []Count{{Valid: 45}, {Reason: "purchase_not_found", Failed: 15}}},
			"of an item":          {CountQuery{From: noon, To: end, By: ByResult, Item: 1}, []Count{{Valid: 15}, {Reason: "purchase_not_found", Failed: 15}}},
			"of an item of a day": {CountQuery{From: noon, To: day.Add(24 * time.Hour), By: ByResult, Item: 1}, []Count{{Valid: 1}, {Reason: "purchase_not_found", Failed: 1}}},
			"by hour":             {CountQuery{From: noon, To: noon.Add(5 * time.Hour), By: ByHour}, []Count{{At: noon, Failed: 1}, {At: noon.Add(4 * time.Hour), Valid: 1}}},
			"by day, from the middle of one to the middle of another": {CountQuery{From: noon.Add(2 * time.Hour), To: day.Add(50 * time.Hour), By: ByDay}, []Count{
				{At: day, Valid: 2}, {At: day.Add(24 * time.Hour), Valid: 4, Failed: 2}, {At: day.Add(48 * time.Hour), Valid: 1},
			}},
			"nothing": {CountQuery{From: end.Add(24 * time.Hour), To: end.Add(48 * time.Hour), By: ByItem}, []Count{}},
		} {
			if diff := cmp.Diff(c.want, counts(c.q)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

// Fewer are gathered than a day has, so each is added to those before.
func TestCountsAreAddedUp(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		f.put(nil)
		f.put(func(e *Entry) { e.Key, e.Reason = 7, "purchase_not_found" })
		f.flushed(t)
		f.put(nil)
		f.flushed(t)
		day := noon.Truncate(24 * time.Hour)
		for by, want := range map[By][]Count{
			ByHour:   {{At: noon, Valid: 2, Failed: 1}},
			ByDay:    {{At: day, Valid: 2, Failed: 1}},
			ByItem:   {{ID: 3, Valid: 2, Failed: 1}},
			ByKey:    {{ID: 2, Valid: 2}, {ID: 7, Failed: 1}},
			ByResult: {{Valid: 2}, {Reason: "purchase_not_found", Failed: 1}},
		} {
			got, err := f.Counts(t.Context(), operator, CountQuery{Workspace: 1, From: day, To: day.Add(24 * time.Hour), By: by})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("by %s: %v %s", by, err, diff)
			}
		}
	})
}
