package requests

import (
	"context"
	"sort"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
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
	now := l.options.Now()
	oldest := firstAt(now.Add(-l.options.Keep.For))
	first := sort.Search(len(entries), func(i int) bool { return int64(entries[i].Number) >= oldest })
	c, w := newCounts(now), newEncoder(l.encoder.size)
	c.add(entries)
	w.addEntries(entries[first:])
	err = l.read(ctx, func(db *sqldb.DB) error {
		return db.Tx(ctx, func(q sqldb.Queries) error {
			before, err := sqldb.One(ctx, q, sqldb.Value[int64], `SELECT count(*) FROM request_sums WHERE day < $1`, hourOf(now)/24)
			if err != nil || before > 0 {
				return err
			}
			filled = true
			if err := c.write(ctx, q); err != nil {
				return err
			}
			return addBlocks(ctx, q, w.blocks())
		})
	})
	return filled && err == nil, err
}
