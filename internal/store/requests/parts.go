package requests

import (
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/store/requestdb"
)

// partsOfAll is into how many parts the calls are cut at least, when there are as many as
// are kept: so many are dropped at once.
const partsOfAll = 10

// pruneEvery is how often parts are looked for that are too old, when no calls come in.
const pruneEvery = time.Hour

// cutAhead is how long after it was decided a part is cut: calls under way still belong to it.
const cutAhead = 2 * time.Second

// partOf finds the part of an id in a list, or creates it.
func partOf(ctx context.Context, tx *requestdb.DB, parts []requestdb.Part, id int64) (requestdb.Part, []requestdb.Part, error) {
	i, _ := slices.BinarySearchFunc(parts, id, func(p requestdb.Part, id int64) int {
		if p.End <= id {
			return -1
		}
		return 1
	})
	if i < len(parts) && parts[i].Has(id) {
		return parts[i], parts, nil
	}
	day := timeOf(id).Truncate(24 * time.Hour)
	first, end := firstAt(day), firstAt(day.Add(24*time.Hour))
	if i > 0 {
		first = max(first, parts[i-1].End)
	}
	if i < len(parts) {
		end = min(end, parts[i].First)
	}
	part := requestdb.NewPart(first, end, timeOf(first))
	return part, slices.Insert(parts, i, part), tx.CreatePart(ctx, part)
}

// tidy packs the calls of items. It cuts a part that has become long, and drops parts that are
// not kept any more; this it does after calls were written, and else every [pruneEvery].
func (l *Log) tidy(ctx context.Context, wrote bool) error {
	if err := l.pack(ctx, l.options.Now()); err != nil {
		return err
	}
	if !wrote && l.options.Now().Sub(l.lastPrune) < pruneEvery {
		return nil
	}
	parts, err := l.db.Parts(ctx, timeOf)
	if err != nil {
		return err
	}
	now := l.options.Now()
	if err := l.cut(ctx, parts, now); err != nil {
		return err
	}
	return l.prune(ctx, parts, now)
}

// cut ends the part of now soon, when it has many calls.
func (l *Log) cut(ctx context.Context, parts []requestdb.Part, now time.Time) error {
	i := slices.IndexFunc(parts, func(p requestdb.Part) bool { return p.Has(firstAt(now)) })
	if i < 0 || parts[i].Calls < max(l.options.Keep.Calls/partsOfAll, 1) {
		return nil
	}
	return l.db.Tx(ctx, func(tx *requestdb.DB) error {
		newest, err := tx.Newest(ctx, parts[i])
		at := firstAt(now.Add(cutAhead))
		if newest >= at { // of a server whose clock is ahead
			at = firstAt(timeOf(newest).Add(cutAhead))
		}
		if err != nil || at >= parts[i].End {
			return err
		}
		return tx.CutPart(ctx, parts[i], at)
	})
}

// prune drops parts that are too old, and the oldest while there are too many calls.
func (l *Log) prune(ctx context.Context, parts []requestdb.Part, now time.Time) error {
	oldest := firstAt(now.Add(-l.options.Keep.For))
	var calls int64
	for _, p := range parts {
		calls += p.Calls
	}
	for len(parts) > 0 && (parts[0].End <= oldest || calls > l.options.Keep.Calls && len(parts) > 1) {
		part := parts[0]
		if err := l.db.Tx(ctx, func(tx *requestdb.DB) error { return tx.DropPart(ctx, part) }); err != nil {
			return err
		}
		calls -= part.Calls
		parts = parts[1:]
	}
	if now.Sub(l.lastPrune) < pruneEvery {
		return nil
	}
	l.lastPrune = now
	if err := l.deleteHours(ctx, now); err != nil {
		return err
	}
	return l.db.DeleteGaps(ctx, now.Add(-l.options.Keep.For))
}
