package requests

import (
	"context"

	"github.com/countersign/countersign/internal/store/requestdb"
)

// itemPart is a part of a time: spans that are packed, or hours that are not.
type itemPart struct {
	packed   bool
	span     requestdb.Span
	from, to int64
}

// itemParts cuts a time into the longest spans that are packed.
func itemParts(from, to int64, until requestdb.PackedUntil) (parts []itemPart) {
	for from < to {
		p := longest(from, to, until)
		if last := len(parts) - 1; last >= 0 && parts[last].packed && parts[last].span == p.span && p.packed {
			parts[last].to = p.to
		} else {
			parts = append(parts, p)
		}
		if !p.packed {
			return parts
		}
		from = startOf(p.span, p.to)
	}
	return parts
}

// longest returns the longest packed span that begins with an hour and ends in time; else all
// hours that are left, because none of them is packed.
func longest(from, to int64, until requestdb.PackedUntil) itemPart {
	for span := requestdb.SpanMonth; span >= requestdb.SpanHour; span-- {
		start := spanAt(span, from)
		if startOf(span, start) == from && startOf(span, start+1) <= to && start <= until[span] {
			return itemPart{true, span, start, start + 1}
		}
	}
	return itemPart{from: from, to: to}
}

// itemSums reads the calls by item, or those of one item by result.
func (q CountQuery) itemSums(ctx context.Context, db *requestdb.DB, from, to int64) (sums []requestdb.Sum, err error) {
	until, err := db.PackedItems(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]requestdb.ItemCalls{}
	for _, p := range itemParts(from, to, until) {
		if !p.packed {
			sums, err = q.unpackedSums(ctx, db, p)
		} else {
			err = q.addPacked(ctx, db, p, all)
		}
		if err != nil {
			return nil, err
		}
	}
	for result, calls := range all {
		if q.Item != 0 {
			calls = calls.Of(q.Item)
		}
		for i, item := range calls.Items {
			sums = append(sums, requestdb.Sum{By: item, Result: result, Calls: calls.Calls[i]})
		}
	}
	return sums, nil
}

func (q CountQuery) unpackedSums(ctx context.Context, db *requestdb.DB, p itemPart) ([]requestdb.Sum, error) {
	if q.Item != 0 {
		return db.SumItemHours(ctx, q.Workspace, q.Item, p.from, p.to)
	}
	return db.SumHours(ctx, q.Workspace, p.from, p.to, requestdb.ByItem)
}

func (q CountQuery) addPacked(ctx context.Context, db *requestdb.DB, p itemPart, all map[string]requestdb.ItemCalls) error {
	calls, err := db.ItemCalls(ctx, q.Workspace, p.span, p.from, p.to)
	for result, more := range calls {
		all[result] = all[result].Add(more)
	}
	return err
}
