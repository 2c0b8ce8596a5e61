package requests

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// flushEvery is how long a call waits at most to be written.
	flushEvery = time.Second
	// lastFlush bounds the last write, when the process ends.
	lastFlush = 5 * time.Second
	// maxLastFlushes is how many writes it takes at most to write all that may wait.
	maxLastFlushes = 4
	// maxAttempts is how often a batch is tried that fails while the database can be written: it may be the batch that is wrong.
	maxAttempts = 3
	// gapsApart is how far apart two gaps are that are told one by one.
	gapsApart = time.Minute
	// warnEvery is how often at most the server's log says that calls were dropped.
	warnEvery = time.Minute
	// reopenEvery is how often a database is opened again whose file is gone.
	reopenEvery = 10 * time.Second
)

// Run writes what calls leave behind, each second, until ctx ends; then it writes the rest
// and returns. End ctx after the last call is answered. A log that can't be written does
// not end it: [Log.State] says what is missing.
func (l *Log) Run(ctx context.Context) {
	if !l.On() {
		return
	}
	l.flushSafely(ctx) // makes the tables
	for group.Sleep(ctx, flushEvery, l.half) {
		l.flushSafely(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFlush)
	defer cancel()
	l.ending = true
	for range maxLastFlushes {
		l.flushSafely(ctx)
		if l.Failing() != nil || len(l.unwritten) == 0 && len(l.counts.sums) == 0 && l.Waiting() == 0 {
			return
		}
	}
}

// flushSafely is flush that contains a panic: a fault of the log must not end the server.
func (l *Log) flushSafely(ctx context.Context) {
	err := group.Contain(l.options.Log, "log of API requests", func() error {
		l.flush(ctx)
		return nil
	})
	if err == nil {
		return
	}
	l.dropUnwritten()
	l.unwritten = nil
	l.counts, l.encoder = newCounts(l.options.Now()), newEncoder(l.encoder.size)
	l.note(err)
}

// flush writes everything that waits. What can't be written now is tried again, while calls
// gather behind it.
func (l *Log) flush(ctx context.Context) {
	dropped := l.take()
	err := l.write(ctx, dropped)
	unknown := fault.HasCode(err, countersign.CodeOutcomeUnknown)
	if err != nil && !unknown {
		l.giveBack(dropped)
		if ctx.Err() != nil {
			return // it is tried once more at the end
		}
		if l.attempts++; fault.IsUnavailable(err) || l.attempts < maxAttempts {
			l.note(err)
			return
		}
		l.dropUnwritten()
	} else {
		l.written.Add(int64(len(l.unwritten)))
	}
	l.warn(dropped)
	clear(l.unwritten) // or their strings would live as long as the buffer
	l.unwritten, l.attempts = nil, 0
	if err == nil {
		err = l.tidy(ctx)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return // at the end; what was not tidied is later
	}
	l.note(err)
}

// warn logs now and then that calls were dropped.
func (l *Log) warn(dropped Gap) {
	now := l.options.Now()
	if dropped.Calls == 0 || now.Sub(l.lastWarn) < warnEvery {
		return
	}
	l.lastWarn = now
	l.options.Log.Warn("API requests were not logged; they were answered", "dropped", dropped.Calls, "dropped_since_start", l.dropped.Load())
}

// dropUnwritten counts a batch that can't be written.
func (l *Log) dropUnwritten() {
	var g Gap
	for i := range l.unwritten {
		g.add(l.unwritten[i].Number.Time(), 1)
	}
	l.dropped.Add(g.Calls)
	l.giveBack(g)
}

// write writes a batch, what was dropped, and the counts if they are due, in one transaction.
func (l *Log) write(ctx context.Context, dropped Gap) error {
	if err := l.ready(ctx); err != nil {
		return err
	}
	now := l.options.Now()
	counts := l.counts.due(now, l.ending)
	if len(l.unwritten) == 0 && dropped.Calls == 0 && !counts {
		return nil
	}
	l.encoder.addEntries(l.unwritten)
	blocks := l.encoder.blocks()
	err := l.db.Tx(ctx, func(q sqldb.Queries) error {
		if err := dropped.write(ctx, q); err != nil {
			return err
		}
		if err := addBlocks(ctx, q, blocks); err != nil {
			return err
		}
		if counts {
			return l.counts.write(ctx, q)
		}
		return nil
	})
	if err != nil && !fault.HasCode(err, countersign.CodeOutcomeUnknown) {
		return err
	}
	if counts {
		l.counts = newCounts(now)
	}
	for _, b := range blocks {
		if b.calls < l.encoder.size/2 {
			l.small++
		}
	}
	return err
}

// ready opens the database, and opens it again when its file is gone.
func (l *Log) ready(ctx context.Context) error {
	if err := l.open(ctx, true); err != nil {
		return err
	}
	err := l.db.Healthy()
	if now := l.options.Now(); err != nil && now.Sub(l.lastReopen) >= reopenEvery {
		l.lastReopen = now
		_ = l.Close()
		if err = l.open(ctx, true); err == nil {
			err = l.db.Healthy()
		}
	}
	return err
}
