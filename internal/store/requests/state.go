package requests

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Failure is why the log can't be written.
type Failure struct {
	Err   error
	Since time.Time
}

// Gap is a time in which calls were not logged, in whole seconds.
type Gap struct {
	From, Until time.Time
	Calls       int64
}

// State says how complete the log is.
type State struct {
	// On reports that this process logs calls. Failure, Written and Dropped are of it.
	On bool
	// Failure is why calls can't be written at present, nil when they can.
	Failure *Failure
	// Written and Dropped count the calls since the start.
	Written, Dropped int64
	// Calls is how many are kept, and Since from when on; zero when there is none.
	Calls int64
	Since time.Time
	// Gaps are the newest times in which calls were not logged.
	Gaps []Gap
}

// gapsShown is how many gaps a state has at most.
const gapsShown = 10

// Written returns how many calls this process has logged.
func (l *Log) Written() int64 { return l.written.Load() }

// Dropped returns how many calls this process could not log.
func (l *Log) Dropped() int64 { return l.dropped.Load() }

// Waiting returns how many calls wait to be written. The buffer has room for 16,384.
func (l *Log) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// Failing returns why calls can't be written at present, nil when they can.
func (l *Log) Failing() *Failure { return l.failure.Load() }

// note remembers whether the last batch was written, and logs a change of that.
func (l *Log) note(err error) {
	before := l.failure.Load()
	switch {
	case err == nil && before != nil:
		l.failure.Store(nil)
		l.options.Log.Info("the log of API requests is written again", "dropped", l.dropped.Load())
	case err != nil && before == nil:
		l.failure.Store(&Failure{err, l.options.Now()})
		l.options.Log.Warn("the log of API requests can't be written; calls are answered as before", "cause", err)
	case err != nil:
		l.failure.Store(&Failure{err, before.Since})
	}
}

// checkedBytes is up to which size, in bytes, [Log.Check] reads the whole file.
const checkedBytes = 256 << 20

// Check is an error when the log can't be read or written, or its file is damaged. That shows when the whole file is read.
func (l *Log) Check(ctx context.Context, whole bool) error {
	if f := l.Failing(); f != nil {
		return f.Err
	}
	err := l.read(ctx, func(db *sqldb.DB) error {
		if info, err := os.Stat(l.path()); !whole || err != nil || info.Size() > checkedBytes {
			return new(State).read(ctx, db)
		}
		problems, err := db.QuickCheck(ctx)
		if err == nil && len(problems) > 0 {
			err = fault.Unavailable(sqldb.CodeDamaged, fmt.Sprintf("The file %s is damaged: %s", l.path(), problems[0]))
		}
		return err
	})
	if errors.Is(err, errNone) {
		return nil
	}
	return err
}

// State returns how complete the log is, to somebody who sees the calls of a workspace; 0 is
// all calls. A log that can't be read is in the state, too.
func (l *Log) State(ctx context.Context, a people.Actor, workspace int64) (State, error) {
	if err := l.options.See(ctx, a, workspace); err != nil {
		return State{}, err
	}
	s := State{On: l.On(), Failure: l.Failing(), Written: l.Written(), Dropped: l.Dropped()}
	err := l.read(ctx, func(db *sqldb.DB) error { return s.read(ctx, db) })
	if errors.Is(err, errNone) || s.Failure != nil {
		err = nil
	}
	return s, err
}

func (s *State) read(ctx context.Context, db *sqldb.DB) error {
	first, err := sqldb.One(ctx, db.Queries(), func(r sqldb.Row) (first int64, err error) {
		err = r.Scan(&first, &s.Calls)
		return first, err
	}, `SELECT coalesce(min(first_id), 0), CAST(coalesce(sum(calls), 0) AS bigint) FROM request_blocks`)
	if err != nil {
		return err
	}
	if first != 0 {
		s.Since = timeOf(first)
	}
	s.Gaps, err = sqldb.List(ctx, db.Queries(), func(r sqldb.Row) (g Gap, err error) {
		var from, until sqldb.Time
		err = r.Scan(&from, &until, &g.Calls)
		g.From, g.Until = from.Time, until.Time
		return g, err
	}, `SELECT from_at, until_at, calls FROM request_gaps ORDER BY from_at DESC LIMIT $1`, gapsShown)
	return err
}
