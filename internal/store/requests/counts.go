package requests

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/requestdb"
)

// By is what counts are split by.
type By string

// The splits.
const (
	ByHour   By = "hour"
	ByDay    By = "day" // in UTC
	ByItem   By = "item"
	ByKey    By = "key"
	ByResult By = "result"
)

// CountQuery asks for counts of calls.
type CountQuery struct {
	// Workspace is the id of the keys' workspace, 0 for calls without a known key.
	Workspace int64
	// From and To are rounded down to whole hours; To does not belong to the time. Hours that
	// are older than hoursKept are counted in whole days only.
	From, To time.Time
	By       By
	// Item narrows the counts by result to one item.
	Item int64
}

// Count is a part of the calls that were counted.
type Count struct {
	At     time.Time // when the hour or the day begins
	ID     int64     // of the item or the key; 0 for none
	Reason string    // by result; empty for valid calls
	Valid  int64
	Failed int64
}

// hoursKept is how long counts are kept by the hour. Days are kept for good.
const hoursKept = 35 * 24 * time.Hour

// Counts returns how many calls there were, in the order of time, else the most calls first.
func (l *Log) Counts(ctx context.Context, a people.Actor, q CountQuery) ([]Count, error) {
	if err := l.options.See(ctx, a, q.Workspace); err != nil {
		return nil, err
	}
	var sums []requestdb.Sum
	err := l.read(ctx, func(db *requestdb.DB) (err error) {
		sums, err = q.sums(ctx, db)
		return err
	})
	if errors.Is(err, errNone) {
		return nil, nil
	}
	return q.counts(sums), err
}

// columns are what the splits are for the queries.
var columns = map[By]string{ByHour: requestdb.ByHour, ByDay: requestdb.ByDay, ByItem: requestdb.ByItem, ByKey: requestdb.ByKey, ByResult: requestdb.ByNone}

// sums reads whole days, and the hours around them.
func (q CountQuery) sums(ctx context.Context, db *requestdb.DB) ([]requestdb.Sum, error) {
	from, to, by := hourOf(q.From), hourOf(q.To), columns[q.By]
	if q.By == ByItem || q.Item != 0 {
		return q.itemSums(ctx, db, from, to)
	}
	firstDay, lastDay := (from+23)/24, to/24
	if q.By == ByHour || firstDay >= lastDay {
		return db.SumHours(ctx, q.Workspace, from, to, by)
	}
	before, err := db.SumHours(ctx, q.Workspace, from, firstDay*24, by)
	if err != nil {
		return nil, err
	}
	days, err := db.SumDays(ctx, q.Workspace, firstDay, lastDay, by)
	if err != nil {
		return nil, err
	}
	after, err := db.SumHours(ctx, q.Workspace, lastDay*24, to, by)
	return slices.Concat(before, days, after), err
}

// counts puts sums together.
func (q CountQuery) counts(sums []requestdb.Sum) []Count {
	type place struct {
		by     int64
		reason string
	}
	found := map[place]*Count{}
	for _, s := range sums {
		p := place{by: s.By}
		if q.By == ByResult {
			p.reason = s.Result
		}
		c := found[p]
		if c == nil {
			c = q.count(s.By)
			c.Reason = p.reason
			found[p] = c
		}
		if s.Result == "" {
			c.Valid += s.Calls
		} else {
			c.Failed += s.Calls
		}
	}
	list := make([]Count, 0, len(found))
	for _, c := range found {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(b.Valid+b.Failed, a.Valid+a.Failed), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// count returns the count of what a sum is by.
func (q CountQuery) count(by int64) *Count {
	switch q.By {
	case ByHour:
		return &Count{At: time.Unix(by*3600, 0).UTC()}
	case ByDay:
		return &Count{At: time.Unix(by*24*3600, 0).UTC()}
	case ByItem, ByKey:
		return &Count{ID: by}
	}
	return &Count{}
}

// daysOf adds counts up for whole days, in the order in which every server writes them.
func daysOf(counts []requestdb.Count) []requestdb.DayCount {
	sums := map[requestdb.DayCount]int64{}
	for _, c := range counts {
		sums[requestdb.DayCount{WorkspaceID: c.WorkspaceID, Subject: requestdb.SubjectAll, Day: c.Hour / 24, Result: c.Result}] += c.Calls
		sums[requestdb.DayCount{WorkspaceID: c.WorkspaceID, Subject: requestdb.SubjectKey, Day: c.Hour / 24, ID: c.KeyID, Result: c.Result}] += c.Calls
	}
	list := make([]requestdb.DayCount, 0, len(sums))
	for c, n := range sums {
		c.Calls = n
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b requestdb.DayCount) int {
		return cmp.Or(cmp.Compare(a.WorkspaceID, b.WorkspaceID), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Day, b.Day),
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.Result, b.Result))
	})
	return list
}
