// Package byitem adds up by item what happened in a workspace: sales, licenses and downloads.
//
// Sums by item and month are rows, of which a year of thousands of items has a hundred
// thousand. Those of a month are kept in memory with the version of the month, and read again
// when it has changed.
package byitem

import (
	"context"
	"time"
	"unsafe"

	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/store/storedb"
)

// capacity is how many bytes of months are kept: some years of 10,000 items.
const capacity = 32 << 20

// row is a sum of an item.
type row[T any] interface {
	// Compare compares the keys of two rows.
	Compare(T) int
	// Plus adds a row of the same key, or one to a zero row, sign times.
	Plus(row T, sign int64) T
	IsZero() bool
}

// sums adds up the rows of workspaces.
type sums[T row[T]] struct {
	db     *storedb.DB
	months cached.Versioned[month, []T]
	source source[T]
}

// source is where rows come from, in their order.
type source[T any] struct {
	months  func(ctx context.Context, tx *storedb.DB, of subject, from, until time.Time) ([]storedb.Month, error)
	ofMonth func(ctx context.Context, tx *storedb.DB, of subject, month string) ([]T, error)
	ofDays  func(ctx context.Context, tx *storedb.DB, of subject, from, until time.Time) ([]T, error)
}

// subject is what is added up.
type subject struct {
	workspace int64
	kind      storedb.ActivityKind // "" for sales
}

type month struct {
	subject
	month string // as 2026-01
}

func newSums[T row[T]](db *storedb.DB, from source[T]) *sums[T] {
	s := &sums[T]{db: db, source: from}
	var one T
	cached.SetVersionedCapacity(&s.months, capacity, func(rows []T) int { return cap(rows) * int(unsafe.Sizeof(one)) })
	return s
}

// add adds up what happened from a day up to another one, in the order of the items.
func (s *sums[T]) add(ctx context.Context, of subject, from, until time.Time) (all []T, err error) {
	err = s.db.Snapshot(ctx, func(tx *storedb.DB) error {
		for _, p := range partsOf(from.UTC(), until.UTC()) {
			add := func(some []T) { all = merge(all, some, p.sign) }
			if p.months {
				err = s.addMonths(ctx, tx, of, p, add)
			} else {
				err = s.addDays(ctx, tx, of, p, add)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

func (s *sums[T]) addDays(ctx context.Context, tx *storedb.DB, of subject, p part, add func([]T)) error {
	days, err := s.source.ofDays(ctx, tx, of, p.from, p.until)
	add(days)
	return err
}

// addMonths adds the months of a part, and reads those that have changed.
func (s *sums[T]) addMonths(ctx context.Context, tx *storedb.DB, of subject, p part, add func([]T)) error {
	months, err := s.source.months(ctx, tx, of, p.from, p.until)
	if err != nil {
		return err
	}
	for _, m := range months {
		key := month{of, m.Month}
		rows, found := s.months.Find(key, m.Version)
		if !found {
			if rows, err = s.source.ofMonth(ctx, tx, of, m.Month); err != nil {
				return err
			}
			s.months.Store(key, m.Version, rows)
		}
		add(rows)
	}
	return nil
}

// merge adds some rows to all, or subtracts them; both are in order. Zero rows are left out.
func merge[T row[T]](all, some []T, sign int64) []T {
	sum := make([]T, 0, max(len(all), len(some)))
	for len(all) > 0 || len(some) > 0 {
		var one T
		order := compare(all, some)
		if order <= 0 {
			one, all = all[0], all[1:]
		}
		if order >= 0 {
			one, some = one.Plus(some[0], sign), some[1:]
		}
		if !one.IsZero() {
			sum = append(sum, one)
		}
	}
	return sum
}

// compare compares the first rows of two lists, of which one may be empty.
func compare[T row[T]](a, b []T) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return a[0].Compare(b[0])
}
