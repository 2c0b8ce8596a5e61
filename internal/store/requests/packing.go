package requests

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/store/requestdb"
)

// packAfter is how long after its end an hour is packed: calls of it may still be written.
const packAfter = 5 * time.Minute

// overBefore returns the first hour that is not over.
func overBefore(now time.Time) int64 { return hourOf(now.Add(-packAfter)) }

// spanAt returns the span in which an hour is.
func spanAt(span requestdb.Span, hour int64) int64 {
	switch span {
	case requestdb.SpanMonth:
		at := time.Unix(hour*3600, 0).UTC()
		return int64(at.Year()-1970)*12 + int64(at.Month()) - 1
	case requestdb.SpanDay:
		return hour / 24
	}
	return hour
}

// startOf returns the first hour of a span.
func startOf(span requestdb.Span, start int64) int64 {
	switch span {
	case requestdb.SpanMonth:
		return hourOf(time.Date(1970, time.January+time.Month(start), 1, 0, 0, 0, 0, time.UTC))
	case requestdb.SpanDay:
		return start * 24
	}
	return start
}

// packsAtOnce is how many hours, days and months are packed at once, so that no call waits long
// to be written.
const packsAtOnce = 10

// pack packs hours, days and months that are over.
func (l *Log) pack(ctx context.Context, now time.Time) error {
	over := overBefore(now)
	for range packsAtOnce {
		if l.packed == over {
			return nil
		}
		packed := false
		err := l.db.Tx(ctx, func(tx *requestdb.DB) (err error) {
			packed, err = packNext(ctx, tx, over)
			return err
		})
		if err != nil {
			return err
		}
		if !packed {
			l.packed = over
		}
	}
	return nil
}

// packNext packs the next hour that is over, else the next day, else the next month, and reports
// whether there was one.
func packNext(ctx context.Context, tx *requestdb.DB, over int64) (packed bool, err error) {
	until, err := tx.LockPackedItems(ctx)
	if err != nil {
		return false, err
	}
	workspaces, err := tx.CountedWorkspaces(ctx)
	if err != nil {
		return false, err
	}
	hour, err := first(workspaces, func(w int64) (int64, error) {
		return tx.FirstCountedHour(ctx, w, until[requestdb.SpanHour]+1)
	})
	if err != nil {
		return false, err
	}
	if hour != 0 && hour < over {
		return true, packHour(ctx, tx, workspaces, hour, until)
	}
	for span := requestdb.SpanDay; span < requestdb.Spans; span++ {
		shorter := span - 1
		found, err := first(workspaces, func(w int64) (int64, error) {
			return tx.FirstPackedItems(ctx, w, shorter, spanAt(shorter, startOf(span, until[span]+1)))
		})
		if err != nil {
			return false, err
		}
		start := spanAt(span, startOf(shorter, found))
		if found != 0 && startOf(span, start+1) <= over {
			return true, packSpan(ctx, tx, workspaces, span, start)
		}
	}
	return false, nil
}

// first returns the least number of all workspaces, not counting 0.
func first(workspaces []int64, of func(workspace int64) (int64, error)) (least int64, err error) {
	for _, w := range workspaces {
		n, err := of(w)
		if err != nil {
			return 0, err
		}
		if n != 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least, nil
}

// packHour packs the calls of an hour.
func packHour(ctx context.Context, tx *requestdb.DB, workspaces []int64, hour int64, until requestdb.PackedUntil) error {
	until[requestdb.SpanHour] = hour
	for _, w := range workspaces {
		sums, err := tx.SumHours(ctx, w, hour, hour+1, requestdb.ByItem)
		if err != nil {
			return err
		}
		if err := addToPacked(ctx, tx, w, hour, requestdb.GroupItemCalls(sums), until); err != nil {
			return err
		}
	}
	return tx.SetPackedItems(ctx, requestdb.SpanHour, hour)
}

// packSpan packs a day of hours, or a month of days.
func packSpan(ctx context.Context, tx *requestdb.DB, workspaces []int64, span requestdb.Span, start int64) error {
	shorter := span - 1
	from, to := spanAt(shorter, startOf(span, start)), spanAt(shorter, startOf(span, start+1))
	for _, w := range workspaces {
		calls, err := tx.ItemCalls(ctx, w, shorter, from, to)
		if err != nil {
			return err
		}
		if err := tx.AddItemCalls(ctx, w, span, start, calls); err != nil {
			return err
		}
	}
	return tx.SetPackedItems(ctx, span, start)
}

// addToPacked adds the calls of an hour to each span around it that is packed.
func addToPacked(ctx context.Context, tx *requestdb.DB, workspace, hour int64, calls map[string]requestdb.ItemCalls, until requestdb.PackedUntil) error {
	for span := range requestdb.Spans {
		start := spanAt(span, hour)
		if start > until[span] {
			continue
		}
		if err := tx.AddItemCalls(ctx, workspace, span, start, calls); err != nil {
			return err
		}
	}
	return nil
}

// addLate adds counts of hours before this one to what is packed, and lets the others be packed.
func (l *Log) addLate(ctx context.Context, tx *requestdb.DB, counts []requestdb.Count, now time.Time) error {
	type place struct{ workspace, hour int64 }
	late := map[place][]requestdb.Sum{}
	for _, c := range counts {
		if c.Hour < hourOf(now) {
			p := place{c.WorkspaceID, c.Hour}
			late[p] = append(late[p], requestdb.Sum{By: c.ItemID, Result: c.Result, Calls: c.Calls})
		}
	}
	if len(late) == 0 {
		return nil
	}
	l.packed = 0
	until, err := tx.LockPackedItems(ctx)
	for p, sums := range late {
		if err == nil && p.hour <= until[requestdb.SpanHour] {
			err = addToPacked(ctx, tx, p.workspace, p.hour, requestdb.GroupItemCalls(sums), until)
		}
	}
	return err
}

// deleteHours deletes the counts by the hour that are not kept any more. What is not packed stays.
func (l *Log) deleteHours(ctx context.Context, now time.Time) error {
	until, err := l.db.PackedItems(ctx)
	if err != nil {
		return err
	}
	before := min(hourOf(now.Add(-hoursKept)), startOf(requestdb.SpanMonth, until[requestdb.SpanMonth]+1))
	workspaces, err := l.db.CountedWorkspaces(ctx)
	for _, w := range workspaces {
		if err == nil {
			err = l.db.DeletePackedHours(ctx, w, before)
		}
		if err == nil {
			err = l.db.DeleteCounts(ctx, w, before)
		}
	}
	return err
}
