package requests

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/store/requestdb"
	"github.com/google/go-cmp/cmp"
)

// A call that is written when its hour, its day and its month are packed still counts.
func TestLateCallsAreAddedToWhatIsPacked(t *testing.T) {
	for name, late := range map[string]time.Time{
		"in an hour that is packed":                      noon.Add(time.Minute),
		"before all that is packed":                      noon.Add(-50 * time.Hour),
		"in a later hour without calls, of a packed day": noon.Add(3 * time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
				f.put(nil)
				f.flushed(t)
				f.clock.Move(10 * 24 * time.Hour)
				f.packedAll(t)
				for _, reason := range []string{"", "purchase_not_found"} {
					f.put(func(e *Entry) {
						e.Number = requestid.First(late) + requestid.Number(f.last)
						e.Reason = reason
					})
				}
				f.put(func(e *Entry) { e.Number, e.Item = requestid.First(late)+requestid.Number(f.last), 2 })
				f.flushed(t) // and packed, in the same hour
				from := noon.AddDate(0, 0, -5).Truncate(24 * time.Hour)
				for when, to := range map[string]time.Time{"by days": from.AddDate(0, 0, 10), "by hours": noon.Add(4 * time.Hour)} {
					got, err := f.Counts(t.Context(), operator, CountQuery{Workspace: 1, From: from, To: to, By: ByItem})
					if diff := cmp.Diff([]Count{{ID: 3, Valid: 2, Failed: 1}, {ID: 2, Valid: 1}}, got); err != nil || diff != "" {
						t.Errorf("%s: %v %s", when, err, diff)
					}
				}
			})
		})
	}
}

func TestATimeIsCutIntoTheLongestSpansThatArePacked(t *testing.T) {
	hour := func(text string) int64 {
		at, err := time.Parse("2006-01-02 15", text)
		if err != nil {
			t.Fatal(err)
		}
		return hourOf(at)
	}
	month := func(text string) int64 { return spanAt(requestdb.SpanMonth, hour(text+"-01 00")) }
	day := func(text string) int64 { return hour(text+" 00") / 24 }
	until := requestdb.PackedUntil{hour("2026-11-23 15"), day("2026-11-22"), month("2026-10")}
	hours := func(from, to string) itemPart { return itemPart{true, requestdb.SpanHour, hour(from), hour(to)} }
	days := func(from, to string) itemPart { return itemPart{true, requestdb.SpanDay, day(from), day(to)} }
	months := func(from, to string) itemPart { return itemPart{true, requestdb.SpanMonth, month(from), month(to)} }
	rows := func(from, to string) itemPart { return itemPart{from: hour(from), to: hour(to)} }
	for name, c := range map[string]struct {
		from, to string
		want     []itemPart
	}{
		"nothing":       {"2026-11-20 05", "2026-11-20 05", nil},
		"within a day":  {"2026-11-20 05", "2026-11-20 09", []itemPart{hours("2026-11-20 05", "2026-11-20 09")}},
		"whole days":    {"2026-11-19 00", "2026-11-21 00", []itemPart{days("2026-11-19", "2026-11-21")}},
		"a whole month": {"2026-02-01 00", "2026-03-01 00", []itemPart{months("2026-02", "2026-03")}},
		"a year up to now": {"2025-11-24 02", "2026-11-24 00", []itemPart{
			hours("2025-11-24 02", "2025-11-25 00"), days("2025-11-25", "2025-12-01"), months("2025-12", "2026-11"),
			days("2026-11-01", "2026-11-23"), hours("2026-11-23 00", "2026-11-23 16"), rows("2026-11-23 16", "2026-11-24 00"),
		}},
		"only what is not packed": {"2026-11-23 16", "2026-11-24 00", []itemPart{rows("2026-11-23 16", "2026-11-24 00")}},
	} {
		if diff := cmp.Diff(c.want, itemParts(hour(c.from), hour(c.to), until), cmp.AllowUnexported(itemPart{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
