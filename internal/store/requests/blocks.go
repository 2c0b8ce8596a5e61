package requests

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// maxBlock is how many calls a block has at most: the more, the longer takes a page of calls that are rare.
	maxBlock = 2048
	// partsOfAll is into how many parts the calls are cut at least, when there are as many as are kept.
	partsOfAll = 20
	// smallBlocks is how many blocks that are not half full are written before they are merged.
	smallBlocks = 32
	// pruneEvery is how often blocks are looked for that are too old. Those that are too many are looked for when one more
	// in pruneCalls was written, too.
	pruneEvery, pruneCalls = time.Hour, 100
	// deletedAtOnce is how many blocks a transaction deletes.
	deletedAtOnce = 500
)

// blockCalls is how many calls a block has at most.
func (k Keep) blockCalls() int64 { return min(max(k.Calls/partsOfAll, 1), maxBlock) }

// lock keeps other servers from counting, merging, pruning and converting until the transaction ends.
func lock(ctx context.Context, q sqldb.Queries) error {
	return q.Lock(ctx, schema.Name+"_versions", "version_id", int64(1))
}

func addBlocks(ctx context.Context, q sqldb.Queries, blocks []block) error {
	for _, b := range blocks {
		_, err := q.Exec(ctx, `INSERT INTO request_blocks (first_id, last_id, calls, filter, data) VALUES ($1, $2, $3, $4, $5)`,
			b.first, b.last, b.calls, b.filter, b.data)
		if err != nil {
			return err
		}
	}
	return nil
}

// tidy converts what an earlier version has left, merges small blocks, and deletes what is not kept any more.
func (l *Log) tidy(ctx context.Context) error {
	if err := l.convert(ctx); err != nil {
		return err
	}
	if l.small >= smallBlocks {
		if err := l.db.Tx(ctx, func(q sqldb.Queries) error { return mergeBlocks(ctx, q, l.encoder) }); err != nil {
			return err
		}
		l.small = 0
	}
	now, written := l.options.Now(), l.Written()
	if now.Sub(l.lastPrune) < pruneEvery && written-l.prunedAt < l.options.Keep.Calls/pruneCalls {
		return nil
	}
	l.lastPrune, l.prunedAt = now, written
	return l.prune(ctx, now)
}

// mergeBlocks merges the newest small blocks, those of each day for themselves.
func mergeBlocks(ctx context.Context, q sqldb.Queries, w *encoder) error {
	if err := lock(ctx, q); err != nil {
		return err
	}
	small, err := sqldb.List(ctx, q, func(r sqldb.Row) (b block, err error) {
		err = r.Scan(&b.first, &b.last)
		return b, err
	}, `SELECT first_id, last_id FROM request_blocks WHERE calls < $1 ORDER BY last_id DESC LIMIT $2`, w.size/2, 4*smallBlocks)
	for err == nil && len(small) > 0 {
		n := slices.IndexFunc(small, func(b block) bool { return dayOf(b.last) != dayOf(small[0].last) })
		if n < 0 {
			n = len(small)
		}
		if n > 1 {
			err = mergeDay(ctx, q, w, small[:n])
		}
		small = small[n:]
	}
	return err
}

// mergeDay merges blocks of a day.
func mergeDay(ctx context.Context, q sqldb.Queries, w *encoder, small []block) error {
	var rows []row
	var b columns
	for _, s := range small {
		if err := b.read(ctx, q, s.first, s.last); err != nil {
			return err
		}
		for i := range b.calls {
			rows = append(rows, b.row(i))
		}
		if _, err := q.Exec(ctx, `DELETE FROM request_blocks WHERE first_id = $1 AND last_id = $2`, s.first, s.last); err != nil {
			return err
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.id(), b.id()) })
	for i := range rows {
		w.add(&rows[i])
	}
	return addBlocks(ctx, q, w.blocks())
}

// read reads a block. The error for one that was merged or pruned is [sqldb.ErrNotFound].
func (b *columns) read(ctx context.Context, q sqldb.Queries, first, last int64) error {
	data, err := sqldb.One(ctx, q, sqldb.Value[[]byte], `SELECT data FROM request_blocks WHERE first_id = $1 AND last_id = $2`, first, last)
	if err != nil {
		return err
	}
	return b.decode(data)
}

// prune deletes blocks and gaps that are too old, and the oldest blocks while there are too many calls.
func (l *Log) prune(ctx context.Context, now time.Time) error {
	oldest := now.Add(-l.options.Keep.For)
	until, err := sqldb.One(ctx, l.db.Queries(), sqldb.Value[int64], `SELECT coalesce(max(last_id), 0) FROM
		(SELECT last_id, CAST(sum(calls) OVER (ORDER BY last_id DESC) AS bigint) AS newer FROM request_blocks) AS block WHERE newer > $1`, l.options.Keep.Calls)
	for deleted := int64(deletedAtOnce); err == nil && deleted == deletedAtOnce; {
		err = l.db.Tx(ctx, func(q sqldb.Queries) error {
			if err := lock(ctx, q); err != nil {
				return err
			}
			deleted, err = q.Exec(ctx, `DELETE FROM request_blocks WHERE (first_id, last_id) IN
				(SELECT first_id, last_id FROM request_blocks WHERE last_id <= $1 ORDER BY last_id LIMIT $2)`, max(until, firstAt(oldest)-1), deletedAtOnce)
			return err
		})
	}
	if err == nil {
		_, err = l.db.Queries().Exec(ctx, `DELETE FROM request_gaps WHERE until_at < $1`, sqldb.Time{Time: oldest})
	}
	return err
}
