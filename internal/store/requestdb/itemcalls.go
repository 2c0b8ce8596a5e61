package requestdb

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/countersign/countersign/internal/sqldb"
)

// Span is a length of time for which the calls of items are packed. Hours, days and months
// are counted from the beginning of 1970, in UTC.
type Span int64

// The spans, the shortest first.
const (
	SpanHour Span = iota
	SpanDay
	SpanMonth
	Spans // how many there are
)

// PackedUntil is the last hour, day and month that were packed, 0 for none.
type PackedUntil [Spans]int64

// ItemCalls is how many calls of a time and a result each item had, ascending by item.
type ItemCalls struct {
	Items []int64
	Calls []int64
}

// ErrPacked means that packed calls are damaged.
var ErrPacked = errors.New("requestdb: packed calls of items are damaged")

// Pack returns the calls as bytes: of each item the distance to the one before, and its calls,
// as variable-length numbers.
func (c ItemCalls) Pack() []byte {
	packed := make([]byte, 0, 4*len(c.Items))
	last := int64(0)
	for i, item := range c.Items {
		packed = binary.AppendUvarint(packed, uint64(item-last))
		packed = binary.AppendUvarint(packed, uint64(c.Calls[i]))
		last = item
	}
	return packed
}

// Unpack returns what [ItemCalls.Pack] has packed.
func Unpack(packed []byte) (c ItemCalls, err error) {
	c = ItemCalls{make([]int64, 0, len(packed)/2), make([]int64, 0, len(packed)/2)}
	last := int64(0)
	for len(packed) > 0 {
		step, n := binary.Uvarint(packed)
		if n <= 0 {
			return ItemCalls{}, ErrPacked
		}
		calls, m := binary.Uvarint(packed[n:])
		item := last + int64(step)
		if m <= 0 || int64(calls) < 0 || item < last || item == last && len(c.Items) > 0 {
			return ItemCalls{}, ErrPacked
		}
		c.Items, c.Calls = append(c.Items, item), append(c.Calls, int64(calls))
		last, packed = item, packed[n+m:]
	}
	return c, nil
}

// Add returns the calls of both together.
func (c ItemCalls) Add(other ItemCalls) ItemCalls {
	size := len(c.Items) + len(other.Items)
	all := ItemCalls{make([]int64, 0, size), make([]int64, 0, size)}
	a, b := 0, 0
	for a < len(c.Items) && b < len(other.Items) {
		switch x, y := c.Items[a], other.Items[b]; {
		case x < y:
			all.Items, all.Calls = append(all.Items, x), append(all.Calls, c.Calls[a])
			a++
		case y < x:
			all.Items, all.Calls = append(all.Items, y), append(all.Calls, other.Calls[b])
			b++
		default:
			all.Items, all.Calls = append(all.Items, x), append(all.Calls, c.Calls[a]+other.Calls[b])
			a++
			b++
		}
	}
	all.Items = append(append(all.Items, c.Items[a:]...), other.Items[b:]...)
	all.Calls = append(append(all.Calls, c.Calls[a:]...), other.Calls[b:]...)
	return all
}

// Of returns the calls of one item alone.
func (c ItemCalls) Of(item int64) ItemCalls {
	i, found := slices.BinarySearch(c.Items, item)
	if !found {
		return ItemCalls{}
	}
	return ItemCalls{c.Items[i : i+1], c.Calls[i : i+1]}
}

// GroupItemCalls groups sums by item, in any order, by their results.
func GroupItemCalls(sums []Sum) map[string]ItemCalls {
	slices.SortFunc(sums, func(a, b Sum) int { return cmp.Compare(a.By, b.By) })
	all := map[string]ItemCalls{}
	for _, s := range sums {
		c := all[s.Result]
		if last := len(c.Items) - 1; last >= 0 && c.Items[last] == s.By {
			c.Calls[last] += s.Calls
			continue
		}
		all[s.Result] = ItemCalls{append(c.Items, s.By), append(c.Calls, s.Calls)}
	}
	return all
}

// PackedItems returns how far the calls of items are packed.
func (d *DB) PackedItems(ctx context.Context) (until PackedUntil, err error) {
	err = sqldb.Each(ctx, d.Queries, func(r sqldb.Row) (row [2]int64, err error) {
		err = r.Scan(&row[0], &row[1])
		return row, err
	}, func(row [2]int64) error {
		until[row[0]] = row[1]
		return nil
	}, `SELECT span, last FROM request_items_done`)
	return until, err
}

// LockPackedItems is PackedItems that keeps others from packing until the transaction ends.
func (d *DB) LockPackedItems(ctx context.Context) (PackedUntil, error) {
	if err := d.Lock(ctx, "request_items_done", "span", int64(SpanHour), int64(SpanDay), int64(SpanMonth)); err != nil {
		return PackedUntil{}, err
	}
	return d.PackedItems(ctx)
}

// SetPackedItems notes the last of a span that was packed.
func (d *DB) SetPackedItems(ctx context.Context, span Span, last int64) error {
	_, err := d.Exec(ctx, `UPDATE request_items_done SET last = $2 WHERE span = $1`, int64(span), last)
	return err
}

// FirstPackedItems returns the first of a span, from one on, in which calls of a workspace are packed,
// or 0.
func (d *DB) FirstPackedItems(ctx context.Context, workspace int64, span Span, from int64) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64],
		`SELECT coalesce(min(start), 0) FROM request_items WHERE workspace_id = $1 AND span = $2 AND start >= $3`, workspace, int64(span), from)
}

// ItemCalls adds up, by result, the packed calls of a workspace from one of a span up to another one.
func (d *DB) ItemCalls(ctx context.Context, workspace int64, span Span, from, to int64) (map[string]ItemCalls, error) {
	type row struct {
		result string
		packed []byte
	}
	all := map[string]ItemCalls{}
	err := sqldb.Each(ctx, d.Queries, func(r sqldb.Row) (one row, err error) {
		err = r.Scan(&one.result, &one.packed)
		return one, err
	}, func(one row) error {
		calls, err := Unpack(one.packed)
		all[one.result] = all[one.result].Add(calls)
		return err
	}, `SELECT result, calls FROM request_items WHERE workspace_id = $1 AND span = $2 AND start >= $3 AND start < $4`, workspace, int64(span), from, to)
	return all, err
}

// AddItemCalls adds calls to those that are packed for a span that starts at a time.
func (d *DB) AddItemCalls(ctx context.Context, workspace int64, span Span, start int64, calls map[string]ItemCalls) error {
	packed, err := d.ItemCalls(ctx, workspace, span, start, start+1)
	if err != nil {
		return err
	}
	for result, more := range calls {
		_, err := d.Exec(ctx, `INSERT INTO request_items (workspace_id, span, start, result, calls) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (workspace_id, span, start, result) DO UPDATE SET calls = excluded.calls`,
			workspace, int64(span), start, result, packed[result].Add(more).Pack())
		if err != nil {
			return err
		}
	}
	return nil
}

// DeletePackedHours deletes the packed hours of a workspace before one.
func (d *DB) DeletePackedHours(ctx context.Context, workspace, hour int64) error {
	_, err := d.Exec(ctx, `DELETE FROM request_items WHERE workspace_id = $1 AND span = $2 AND start < $3`, workspace, int64(SpanHour), hour)
	return err
}
