// Package usage counts how often rows are used, and when and from where last: in memory,
// off the request path, and in batches in the database.
package usage

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// Counter counts the uses of the rows of one table, which has the columns id,
// used_count, last_used_at and last_used_from. Its zero value is ready. Its methods may
// be called from many goroutines.
type Counter struct {
	mu   sync.Mutex
	rows map[int64]*use
	// waiting counts the uses in rows, unconfirmed those in commits whose outcome is unknown.
	waiting, unconfirmed int64
}

// Figures are what metrics say of a counter.
type Figures struct {
	// Waiting is how many uses are not written yet.
	Waiting int64
	// Unconfirmed is how many are in commits whose outcome is unknown: they may be missing.
	Unconfirmed int64
}

// Figures returns what metrics say.
func (c *Counter) Figures() Figures {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Figures{Waiting: c.waiting, Unconfirmed: c.unconfirmed}
}

// use is what was counted of a row since it was last written.
type use struct {
	id, count int64
	at        time.Time
	from      netip.Addr // of the last use
}

// Note counts one use of a row.
func (c *Counter) Note(id int64, at time.Time, from netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil {
		c.rows = make(map[int64]*use)
	}
	row := c.rows[id]
	if row == nil {
		row = &use{id: id}
		c.rows[id] = row
	}
	row.count++
	c.waiting++
	row.at, row.from = at, from
}

// Write adds what was counted to the rows of a table, in several transactions if there
// are many. It marks no change: nothing that is cached may depend on these columns.
//
// After an error the rest waits for the next call. Only the batch of a commit whose
// outcome is unknown is not written again, because it may have been.
func (c *Counter) Write(ctx context.Context, db *sqldb.DB, table string) error {
	rows := c.take()
	for len(rows) > 0 {
		batch := slices.Clip(rows[:min(len(rows), batchRows)])
		err := db.Tx(ctx, func(q sqldb.Queries) error { return add(ctx, q, table, batch) })
		unknown := fault.HasCode(err, countersign.CodeOutcomeUnknown)
		if err == nil || unknown {
			rows = rows[len(batch):]
		}
		if unknown {
			c.loseTrack(batch)
		}
		if err != nil {
			c.giveBack(rows)
			return err
		}
	}
	return nil
}

// take empties the counter and returns what it held, by id.
func (c *Counter) take() []use {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := make([]use, 0, len(c.rows))
	for _, row := range c.rows {
		rows = append(rows, *row)
	}
	c.rows, c.waiting = nil, 0
	slices.SortFunc(rows, func(a, b use) int { return cmp.Compare(a.id, b.id) })
	return rows
}

// loseTrack counts a batch that may have been written.
func (c *Counter) loseTrack(batch []use) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, row := range batch {
		c.unconfirmed += row.count
	}
}

// giveBack adds what was not written to what was counted meanwhile.
func (c *Counter) giveBack(rows []use) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil {
		c.rows = make(map[int64]*use, len(rows))
	}
	for _, row := range rows {
		c.waiting += row.count
		if newer := c.rows[row.id]; newer != nil {
			newer.count += row.count
		} else {
			c.rows[row.id] = &row
		}
	}
}
