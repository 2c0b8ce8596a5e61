package requests

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/sqldb"
)

// room is how many entries wait at most to be written; more are dropped and counted.
const room = 16384

// Put leaves a call to be written. It never waits: while the buffer is full, calls are
// dropped and counted.
func (l *Log) Put(e *Entry) {
	l.mu.Lock()
	if len(l.waiting) >= room {
		l.gap.add(e.Number.Time(), 1)
		l.mu.Unlock()
		l.dropped.Add(1)
		return
	}
	l.waiting = append(l.waiting, *e)
	wake := len(l.waiting) == room/2
	l.mu.Unlock()
	if wake {
		select {
		case l.half <- struct{}{}:
		default:
		}
	}
}

// add adds calls at a time.
func (g *Gap) add(at time.Time, calls int64) {
	if g.Calls == 0 || at.Before(g.From) {
		g.From = at
	}
	if at.After(g.Until) {
		g.Until = at
	}
	g.Calls += calls
}

// take exchanges the two halves of the buffer, if everything was written, and returns what was dropped since the last call.
func (l *Log) take() (dropped Gap) {
	l.mu.Lock()
	dropped, l.gap = l.gap, Gap{}
	fresh := len(l.unwritten) == 0
	if fresh {
		l.unwritten, l.waiting, l.spare = l.waiting, l.spare[:0], l.waiting
	}
	l.mu.Unlock()
	if fresh {
		l.counts.add(l.unwritten)
	}
	return dropped
}

// giveBack adds a gap that could not be written to what was dropped meanwhile.
func (l *Log) giveBack(g Gap) {
	if g.Calls == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gap.add(g.From, g.Calls)
	l.gap.add(g.Until, 0)
}

// write notes calls that were not logged. Gaps that are less than [gapsApart] from each other become one.
func (g Gap) write(ctx context.Context, q sqldb.Queries) error {
	if g.Calls == 0 {
		return nil
	}
	from, until := sqldb.Time{Time: g.From}, sqldb.Time{Time: g.Until}
	changed, err := q.Exec(ctx, `UPDATE request_gaps SET until_at = $1, calls = calls + $2
		WHERE from_at = (SELECT max(from_at) FROM request_gaps) AND until_at >= $3 AND from_at <= $4`,
		until, g.Calls, sqldb.Time{Time: g.From.Add(-gapsApart)}, from)
	if err == nil && changed == 0 {
		_, err = q.Exec(ctx, `INSERT INTO request_gaps (from_at, until_at, calls) VALUES ($1, $2, $3)`, from, until, g.Calls)
	}
	return err
}
