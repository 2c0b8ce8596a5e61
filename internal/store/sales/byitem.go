// Package sales adds up the sales of a workspace by item.
//
// Sums by item and month are rows, of which a year of thousands of items has a hundred
// thousand. Those of a month are kept in memory with the version of the month, and read again
// when it has changed.
package sales

import (
	"cmp"
	"context"
	"time"
	"unsafe"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/store/storedb"
)

// capacity is how many bytes of months are kept: some years of 10,000 items.
const capacity = 32 << 20

// ByItem adds up sales by item. Its methods may be called from many goroutines.
type ByItem struct {
	db     *storedb.DB
	months cached.Versioned[month, []storedb.Sales]
}

type month struct {
	workspace int64
	month     string // as 2026-01
}

// NewByItem returns the sales of a database.
func NewByItem(db *storedb.DB) *ByItem {
	b := &ByItem{db: db}
	b.months.SetCapacity(capacity, func(s []storedb.Sales) int { return cap(s) * int(unsafe.Sizeof(storedb.Sales{})) })
	return b
}

// Sales adds up the purchases of a workspace that were sold in a time, in the order of the items
// and of the currencies.
func (b *ByItem) Sales(ctx context.Context, workspace int64, q storedb.SalesQuery) (all []storedb.Sales, err error) {
	err = b.db.Snapshot(ctx, func(tx *storedb.DB) error {
		for _, p := range partsOf(q.From.Time.UTC(), q.Until.Time.UTC()) {
			add := func(some []storedb.Sales) { all = merge(all, some, p.sign) }
			if p.months {
				err = b.addMonths(ctx, tx, workspace, p, add)
			} else {
				err = addDays(ctx, tx, workspace, p, add)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

func addDays(ctx context.Context, tx *storedb.DB, workspace int64, p part, add func([]storedb.Sales)) error {
	days, err := tx.SalesByItem(ctx, workspace, p.from, p.until)
	add(days)
	return err
}

// addMonths adds the months of a part, and reads those that have changed.
func (b *ByItem) addMonths(ctx context.Context, tx *storedb.DB, workspace int64, p part, add func([]storedb.Sales)) error {
	months, err := tx.SalesMonths(ctx, workspace, p.from, p.until)
	if err != nil {
		return err
	}
	for _, m := range months {
		key := month{workspace, m.Month}
		sums, found := b.months.Find(key, m.Version)
		if !found {
			if sums, err = tx.SalesOfMonth(ctx, workspace, m.Month); err != nil {
				return err
			}
			b.months.Store(key, m.Version, sums)
		}
		add(sums)
	}
	return nil
}

// merge adds some sales to all, or subtracts them; both are in order. What has none is left out.
func merge(all, some []storedb.Sales, sign int64) []storedb.Sales {
	sum := make([]storedb.Sales, 0, max(len(all), len(some)))
	for len(all) > 0 || len(some) > 0 {
		var one storedb.Sales
		order := compare(all, some)
		if order <= 0 {
			one, all = all[0], all[1:]
		}
		if order >= 0 {
			s := some[0]
			some = some[1:]
			one.Item, one.Currency = s.Item, s.Currency
			one.Count, one.Ended, one.Revenue = one.Count+sign*s.Count, one.Ended+sign*s.Ended, one.Revenue+countersign.Money(sign)*s.Revenue
		}
		if one.Count != 0 {
			sum = append(sum, one)
		}
	}
	return sum
}

// compare compares the first sales of two lists, of which one may be empty.
func compare(a, b []storedb.Sales) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	case a[0].Item != b[0].Item:
		return cmp.Compare(a[0].Item, b[0].Item)
	}
	return cmp.Compare(a[0].Currency, b[0].Currency)
}

// part is a part of a time: whole months, or days whose purchases are read.
type part struct {
	months      bool
	from, until time.Time // until does not belong to it
	sign        int64     // -1 for what is to be subtracted
}

// partsOf cuts a time so that few purchases are read: a month of which more than half is wanted
// is added, and what is too much is subtracted.
func partsOf(from, until time.Time) (parts []part) {
	add := func(months bool, from, until time.Time, sign int64) {
		if from.Before(until) {
			parts = append(parts, part{months, from, until, sign})
		}
	}
	first, last := nearestMonth(from), nearestMonth(until)
	if !first.Before(last) {
		add(false, from, until, 1)
		return parts
	}
	add(true, first, last, 1)
	add(false, from, first, 1)
	add(false, first, from, -1)
	add(false, last, until, 1)
	add(false, until, last, -1)
	return parts
}

// nearestMonth is the first day of the month that begins nearest to a time.
func nearestMonth(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month()+time.Month(at.Day()/17), 1, 0, 0, 0, 0, time.UTC)
}
