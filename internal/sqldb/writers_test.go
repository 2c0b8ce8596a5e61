package sqldb

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// The time is that of the bubble, so it is exact: nothing but waits takes any.
func TestAWriteWaitsOnceForTheQueueAndTheLock(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	first := migrated(t, at)
	second := func() {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			second := open(t, optionsOf(at, twoSteps()))
			start := time.Now()
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					wantCode(t, second.Tx(t.Context(), func(Queries) error { return nil }), countersign.CodeBusy)
					expect.Equalf(t, time.Since(start), writeWait, "refused after")
				})
			}
			all.Wait()
			count(t, second.Queries(), `SELECT count(*) FROM notes`)
		})
	}
	must.Do(t, first.Tx(t.Context(), func(q Queries) error { second(); return nil }))
}

func TestACallerThatLeavesTheQueueWritesNothing(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		first := migrated(t, at)
		second := open(t, optionsOf(at, twoSteps()))
		taken := holdWriters(t, second)
		ctx, leave := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- second.Tx(ctx, func(Queries) error { t.Error("it began"); return nil }) }()
		for second.writers.waiting.Load() == 0 {
		}
		leave()
		expect.Equalf(t, await(t, result), context.Canceled, "error")
		taken()
		expect.NoError(t, first.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) }))
	})
}

func TestPastAFullQueueAWriteIsRefusedAtOnce(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		db.limits.begin, db.limits.queue = time.Hour, 3
		free := holdWriters(t, db)
		var waiting sync.WaitGroup
		for i := range db.limits.queue {
			waiting.Go(func() {
				expect.NoError(t, db.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, i) }))
			})
		}
		for db.writers.waiting.Load() < db.limits.queue {
		}
		wantCode(t, db.Tx(t.Context(), func(Queries) error { return nil }), countersign.CodeBusy)
		free()
		waiting.Wait()
		expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), db.limits.queue, "notes")
	})
}

// holdWriters takes all connections that write, until free is called.
func holdWriters(t *testing.T, db *DB) (free func()) {
	t.Helper()
	var all []interface{ Close() error }
	for range db.writers.size {
		conn := must.Get(db.write.Conn(t.Context()))(t)
		all = append(all, conn)
	}
	free = sync.OnceFunc(func() {
		for _, conn := range all {
			conn.Close()
		}
	})
	t.Cleanup(free)
	return free
}

// A statement has what is left of the deadline, also when the server says nothing.
func TestAStatementOfARequestEndsAtTheDeadline(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: proxy.URL})
	db.limits.begin = 500 * time.Millisecond
	err := db.Tx(t.Context(), func(q Queries) error {
		proxy.Freeze()
		return addNote(t.Context(), q, 1)
	})
	wantUnavailable(t, err)
	proxy.Restore()
	expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), 0, "notes")
}

func TestSessionsWaitLongerThanRequests(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		if db.limits.begin >= sessionWait {
			t.Errorf("a request waits for %s", db.limits.begin)
		}
		must.Do(t, db.Session(t.Context(), func(session *DB) error {
			if session.limits != (limits{begin: sessionWait}) {
				t.Errorf("limits %+v", session.limits)
			}
			return nil
		}))
	})
}
