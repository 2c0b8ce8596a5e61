package requests

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/store/requestdb"
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
		f.packedAll(t)
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
			"of an item in hours": {CountQuery{From: noon, To: noon.Add(5 * time.Hour), By: ByResult, Item: 1}, []Count{{Reason: "purchase_not_found", Failed: 1}}},
			"by hour":             {CountQuery{From: noon, To: noon.Add(5 * time.Hour), By: ByHour}, []Count{{At: noon, Failed: 1}, {At: noon.Add(4 * time.Hour), Valid: 1}}},
			"by day, from the middle of one to the middle of another": {CountQuery{From: noon.Add(2 * time.Hour), To: day.Add(50 * time.Hour), By: ByDay}, []Count{
				{At: day, Valid: 2}, {At: day.Add(24 * time.Hour), Valid: 4, Failed: 2}, {At: day.Add(48 * time.Hour), Valid: 1},
			}},
			"nothing": {CountQuery{From: end, To: end.Add(time.Hour), By: ByItem}, []Count{}},
		} {
			if diff := cmp.Diff(c.want, counts(c.q)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		until, err := f.db.PackedItems(t.Context())
		if want := (requestdb.PackedUntil{hourOf(end) - 4, hourOf(end)/24 - 1, spanAt(requestdb.SpanMonth, hourOf(noon))}); err != nil || until != want {
			t.Errorf("packed until %d, %v; want %d", until, err, want)
		}
		f.clock.Move(40 * 24 * time.Hour)
		f.put(nil)
		f.flushed(t)
		f.packedAll(t)
		if err := f.deleteHours(t.Context(), f.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Count{{ID: 1, Valid: 15, Failed: 15}, {ID: 2, Valid: 30}}, counts(CountQuery{From: day, To: f.clock.Now().Truncate(24 * time.Hour), By: ByItem})); diff != "" {
			t.Errorf("after the hours were deleted: %s", diff)
		}
		if sums, err := f.db.SumHours(t.Context(), 1, 0, hourOf(end), requestdb.ByNone); err != nil || len(sums) != 0 {
			t.Errorf("hours are left: %v, %v", sums, err)
		}
	})
}

// packedAll packs everything that is over.
func (f *fixture) packedAll(t *testing.T) {
	t.Helper()
	for f.packed = 0; f.packed != overBefore(f.clock.Now()); {
		if err := f.pack(t.Context(), f.clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

// What is counted by day, key and result is read without the hours, of which today has many.
func TestDaysAreCountedWithTheirCalls(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		f.put(nil)
		f.put(func(e *Entry) { e.Key, e.Reason = 7, "purchase_not_found" })
		f.flushed(t)
		f.put(nil)
		f.flushed(t)
		day := noon.Truncate(24 * time.Hour)
		check := func(when string) {
			t.Helper()
			for by, want := range map[By][]Count{
				ByDay:    {{At: day, Valid: 2, Failed: 1}},
				ByKey:    {{ID: 2, Valid: 2}, {ID: 7, Failed: 1}},
				ByResult: {{Valid: 2}, {Reason: "purchase_not_found", Failed: 1}},
			} {
				got, err := f.Counts(t.Context(), operator, CountQuery{Workspace: 1, From: day, To: day.Add(24 * time.Hour), By: by})
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s, by %s: %v %s", when, by, err, diff)
				}
			}
		}
		exec := func(query string) {
			t.Helper()
			if _, err := f.db.Exec(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
		check("with their calls")
		exec(`DELETE FROM request_days`)
		exec(`DROP TABLE request_items`)
		exec(`DROP TABLE request_items_done`)
		exec(`CREATE TABLE request_days_done (day bigint PRIMARY KEY)`)
		exec(`DELETE FROM requests_versions WHERE version_id >= 2`)
		if err := f.db.DB().Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("after the migration")
		exec(`DELETE FROM request_counts`)
		check("without the hours")
	})
}
