package requests

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/sqldb"
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
	// From and To are rounded down to whole hours; To does not belong to the time. Items and keys
	// are counted by whole days in UTC: all days of which the time has a part.
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

// sums is how many calls of a day had the same result: by the hour of the day, by key and by item.
type sums [3]map[int64]int64

// The sums, and their columns.
const (
	sumHours = iota
	sumKeys
	sumItems
)

var sumColumns = [...]string{sumHours: "hours", sumKeys: "keys", sumItems: "items"}

// sumsOf says what sums are of.
type sumsOf struct {
	workspace, day int64 // since 1970, in UTC
	result         string
}

// counts is what was counted and not written.
type counts struct {
	sums  map[sumsOf]*sums
	calls int       // since they were written last
	at    time.Time // when that was
}

func newCounts(now time.Time) counts { return counts{sums: map[sumsOf]*sums{}, at: now} }

// of returns the sums of some calls.
func (c *counts) of(which sumsOf) *sums {
	s := c.sums[which]
	if s == nil {
		s = &sums{{}, {}, {}}
		c.sums[which] = s
	}
	return s
}

// add counts calls, once.
func (c *counts) add(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		hour := hourOf(e.Number.Time())
		s := c.of(sumsOf{e.Workspace, hour / 24, e.Reason})
		s[sumHours][hour%24]++
		s[sumKeys][e.Key]++
		s[sumItems][e.Item]++
	}
	c.calls += len(entries)
}

// Few counts are written with their calls. More are gathered for a while, because most calls of a busy store
// count for another item than the one before.
const (
	fewCounts   = 512
	countsEvery = 10 * time.Second
)

func (c *counts) due(now time.Time, all bool) bool {
	return len(c.sums) > 0 && (all || c.calls <= fewCounts || now.Sub(c.at) >= countsEvery)
}

// write adds the counts to those of the database.
func (c *counts) write(ctx context.Context, q sqldb.Queries) error {
	err := lock(ctx, q)
	for which, s := range c.sums {
		if err == nil {
			err = s.write(ctx, q, which)
		}
	}
	return err
}

func (s *sums) write(ctx context.Context, q sqldb.Queries, which sumsOf) error {
	args := []any{which.workspace, which.day, which.result}
	before, err := sqldb.One(ctx, q, func(r sqldb.Row) (packed [len(s)][]byte, err error) {
		err = r.Scan(&packed[sumHours], &packed[sumKeys], &packed[sumItems])
		return packed, err
	}, `SELECT hours, keys, items FROM request_sums WHERE workspace_id = $1 AND day = $2 AND result = $3`, args...)
	if err = sqldb.IfNotFound(err, nil); err != nil {
		return err
	}
	for i, sum := range s {
		all := maps.Clone(sum)
		if err := eachSum(before[i], func(id, calls int64) { all[id] += calls }); err != nil {
			return err
		}
		args = append(args, packSums(all))
	}
	_, err = q.Exec(ctx, `INSERT INTO request_sums (workspace_id, day, result, hours, keys, items) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (workspace_id, day, result) DO UPDATE SET hours = excluded.hours, keys = excluded.keys, items = excluded.items`, args...)
	return err
}

// packSums returns sums as variable-length numbers: of each id, in their order, the distance to the one before, and its calls.
func packSums(sum map[int64]int64) []byte {
	packed, last := make([]byte, 0, 4*len(sum)), int64(0)
	for _, id := range slices.Sorted(maps.Keys(sum)) {
		packed = binary.AppendUvarint(binary.AppendUvarint(packed, uint64(id-last)), uint64(sum[id]))
		last = id
	}
	return packed
}

// eachSum calls fn with what packSums has packed.
func eachSum(packed []byte, fn func(id, calls int64)) error {
	r, id := reader{rest: packed}, int64(0)
	for len(r.rest) > 0 {
		id += r.number()
		fn(id, r.number())
	}
	if r.bad {
		return errDamaged
	}
	return nil
}

// Counts returns how many calls there were, in the order of time, else the most calls first.
func (l *Log) Counts(ctx context.Context, a people.Actor, q CountQuery) (list []Count, err error) {
	if err := l.options.See(ctx, a, q.Workspace); err != nil {
		return nil, err
	}
	err = l.read(ctx, func(db *sqldb.DB) error {
		byResult, err := q.read(ctx, db.Queries())
		list = q.counts(byResult)
		return err
	})
	if errors.Is(err, errNone) {
		return nil, nil
	}
	return list, err
}

// read adds up calls by result, and then by what the query splits them by.
func (q CountQuery) read(ctx context.Context, db sqldb.Queries) (map[string]map[int64]int64, error) {
	kind, from, to := sumHours, hourOf(q.From), hourOf(q.To)
	switch {
	case q.By == ByKey:
		kind = sumKeys
	case q.By == ByItem || q.Item != 0:
		kind = sumItems
	}
	type sum struct {
		day    int64
		result string
		packed []byte
	}
	all := map[string]map[int64]int64{}
	err := sqldb.Each(ctx, db, func(r sqldb.Row) (s sum, err error) {
		err = r.Scan(&s.day, &s.result, &s.packed)
		return s, err
	}, func(s sum) error {
		if all[s.result] == nil {
			all[s.result] = map[int64]int64{}
		}
		into := all[s.result]
		return eachSum(s.packed, func(id, calls int64) {
			switch hour := s.day*24 + id; {
			case kind == sumHours && (hour < from || hour >= to) || q.Item != 0 && id != q.Item:
			case q.By == ByResult:
				into[0] += calls
			case q.By == ByDay:
				into[s.day] += calls
			case q.By == ByHour:
				into[hour] += calls
			default:
				into[id] += calls
			}
		})
	}, `SELECT day, result, `+sumColumns[kind]+` FROM request_sums WHERE workspace_id = $1 AND day >= $2 AND day < $3`, q.Workspace, from/24, (to+23)/24)
	return all, err
}

// counts puts sums together.
func (q CountQuery) counts(byResult map[string]map[int64]int64) []Count {
	found, list := map[int64]int{}, []Count{}
	for result, sum := range byResult {
		if q.By == ByResult {
			clear(found)
		}
		for id, calls := range sum {
			i, ok := found[id]
			if !ok {
				i, found[id] = len(list), len(list)
				list = append(list, q.count(id, result))
			}
			if result == "" {
				list[i].Valid += calls
			} else {
				list[i].Failed += calls
			}
		}
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(b.Valid+b.Failed, a.Valid+a.Failed), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// count returns the count of what a sum is by.
func (q CountQuery) count(id int64, result string) Count {
	switch q.By {
	case ByHour:
		return Count{At: time.Unix(id*3600, 0).UTC()}
	case ByDay:
		return Count{At: time.Unix(id*24*3600, 0).UTC()}
	case ByResult:
		return Count{Reason: result}
	}
	return Count{ID: id}
}

// timeOf returns the time that an id stands for, and firstAt the smallest id of a time.
func timeOf(id int64) time.Time  { return requestid.Number(id).Time() }
func firstAt(at time.Time) int64 { return int64(requestid.First(at)) }

func hourOf(at time.Time) int64 { return at.Unix() / 3600 }
func dayOf(id int64) int64      { return hourOf(timeOf(id)) / 24 }
