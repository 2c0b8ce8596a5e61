package requests

import (
	"context"
	"sort"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/requestdb"
)

// Fill writes calls of the past, the oldest first, into a log that has none of an earlier day,
// and reports whether it has. All are counted; those that are too old to be kept are not
// written.
func (l *Log) Fill(ctx context.Context, a people.Actor, entries []Entry) (filled bool, err error) {
	if err := l.options.See(ctx, a, 0); err != nil || !l.On() {
		return false, err
	}
	if err := l.open(ctx, true); err != nil {
		return false, err
	}
	err = l.read(ctx, func(db *requestdb.DB) error {
		return db.Tx(ctx, func(tx *requestdb.DB) error {
			has, err := l.hasHistory(ctx, tx)
			if err != nil || has {
				return err
			}
			filled = true
			return l.fill(ctx, tx, entries)
		})
	})
	return filled && err == nil, err
}

// hasHistory reports whether there are calls of an earlier day.
func (l *Log) hasHistory(ctx context.Context, tx *requestdb.DB) (bool, error) {
	packed, err := tx.PackedItems(ctx)
	if err != nil || packed[requestdb.SpanDay] > 0 {
		return true, err
	}
	parts, err := tx.Parts(ctx, timeOf)
	return len(parts) > 0 && hourOf(timeOf(parts[0].First))/24 < hourOf(l.options.Now())/24, err
}

func (l *Log) fill(ctx context.Context, tx *requestdb.DB, entries []Entry) error {
	now := l.options.Now()
	b := newBatch()
	b.count(entries)
	for len(b.counts) > 0 {
		counts := b.dueCounts(now, true)
		if err := tx.AddCounts(ctx, counts); err != nil {
			return err
		}
		if err := tx.AddDays(ctx, daysOf(counts)); err != nil {
			return err
		}
		b.counted(counts, now)
	}
	for packed := true; packed; {
		var err error
		if packed, err = packNext(ctx, tx, overBefore(now)); err != nil {
			return err
		}
	}
	oldest := firstAt(now.Add(-l.options.Keep.For))
	first := sort.Search(len(entries), func(i int) bool { return int64(entries[i].Number) >= oldest })
	return b.write(ctx, tx, entries[first:])
}
