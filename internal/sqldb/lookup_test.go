package sqldb

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// anyNumber makes use of a lookup's first argument.
const anyNumber = `CAST($1 AS bigint) IS NOT NULL`

func TestLookupServesManyAtOnce(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		exec(t, db, `INSERT INTO notes (id, text) VALUES (1, 'one'), (2, 'two')`)
		lookup := db.Lookup(`SELECT text FROM notes WHERE ` + anyNumber + ` AND id = $2`)
		var work sync.WaitGroup
		for i := range 50 {
			work.Go(func() {
				var got string
				id, want := int64(1+i%2), []string{"one", "two"}[i%2]
				if err := lookup.Row(t.Context(), 1, id, &got); err != nil || got != want {
					t.Errorf("row %d is %q, %v", id, got, err)
				}
			})
		}
		work.Wait()
	})
}

func TestLookupReadsTextsOfAnyLength(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		lookup := db.Lookup(`SELECT text FROM notes WHERE ` + anyNumber + ` AND id = $2`)
		got := "of the last look-up"
		for _, n := range []int{0, 1, 63, 64, 65, 64, 1000, 1} {
			want := strings.Repeat("é", n/2) + strings.Repeat("x", n%2)
			id := int64(n)
			must.Do(t, db.Tx(t.Context(), func(q Queries) error {
				_, err := q.Exec(t.Context(), `INSERT INTO notes (id, text) VALUES ($1, $2) ON CONFLICT DO NOTHING`, id, want)
				return err
			}))
			if err := lookup.Row(t.Context(), 1, id, &got); err != nil || got != want {
				t.Errorf("%d bytes are read as %q, %v", n, got, err)
			}
		}
	})
}

func TestLookupSeesWhatOthersCommitted(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		other := open(t, optionsOf(at, twoSteps()))
		lookup := db.Lookup(`SELECT count(*) FROM notes WHERE ` + anyNumber + ` AND id >= $2`)
		for want := range int64(3) {
			var got int64
			if err := lookup.Row(t.Context(), 1, 0, &got); err != nil || got != want {
				t.Errorf("%d notes, %v; want %d", got, err, want)
			}
			must.Do(t, other.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, want) }))
		}
	})
}

func TestLookupOutlivesItsConnections(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: proxy.URL})
	lookup := db.Lookup(`SELECT count(*) FROM notes WHERE ` + anyNumber + ` AND id >= $2`)
	var n int64
	proxy.Cut()
	wantUnavailable(t, lookup.Row(t.Context(), 1, 0, &n)) // down at its first use
	proxy.Restore()
	db.primary.probing.Wait()
	must.Do(t, lookup.Row(t.Context(), 1, 0, &n))
	proxy.Cut()
	wantUnavailable(t, lookup.Row(t.Context(), 1, 0, &n)) // down later
	proxy.Restore()
	db.primary.probing.Wait()
	expect.NoError(t, lookup.Row(t.Context(), 1, 0, &n))
}

// follow runs the feed until the test ends and returns when it is live. told
// receives every change by others.
func follow(t *testing.T, db *DB) (told <-chan string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	live, changes, ended := make(chan struct{}, 1), make(chan string, 100), make(chan struct{})
	db.Watch(Watcher{
		Changed: func(topic, _ string) { changes <- topic },
		Lost:    func() {},
		Live:    func() { live <- struct{}{} },
	})
	go func() { db.Feed(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	<-live
	return changes
}

func TestLookupHoldsNothingOlderThanTheLastCommit(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	db := migrated(t, at)
	other := open(t, optionsOf(at, twoSteps()))
	told := follow(t, db)
	lookup := db.Lookup(`SELECT count(*) FROM notes WHERE ` + anyNumber + ` AND id >= $2`)
	count := func() (n int64) {
		t.Helper()
		lookup.readers.turn()
		must.Do(t, lookup.Row(t.Context(), 1, 0, &n))
		return n
	}
	add := func(to *DB, id int64) {
		t.Helper()
		must.Do(t, to.Tx(t.Context(), func(q Queries) error {
			if err := q.Mark(t.Context(), "notes", ""); err != nil {
				return err
			}
			return addNote(t.Context(), q, id)
		}))
		<-told
	}
	for range cap(lookup.readers.inUse) { // every reader has a snapshot now
		count()
	}
	add(db, 1)
	for range cap(lookup.readers.inUse) {
		expect.Equalf(t, count(), 1, "notes after a commit of this process")
	}
	add(other, 2)
	for range cap(lookup.readers.inUse) {
		expect.Equalf(t, count(), 2, "notes after another process's commit was told")
	}
}

// To open one after a commit costs SQLite its mapping of the whole file.
func TestSnapshotsAreReleasedByCommitsThatMarkSomething(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	for name, c := range map[string]struct {
		change func()
		want   uint64
	}{
		"a commit without a mark leaves them":         {func() { commit(t, db, 1) }, 0},
		"a commit with a mark releases them":          {func() { mark(t, db, "7") }, 1},
		"another's commit without a mark leaves them": {func() { db.follow(nil, 7) }, 0},
		"another's commit with a mark releases them":  {func() { db.follow([]numbered{{id: 8}}, 7) }, 1},
		"marks that were missed release them":         {func() { db.follow([]numbered{{id: 9}}, 7) }, 1},
		"a checkpoint releases them, before and after it": {func() {
			expect.NoError(t, db.checkpoint(t.Context()))
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			before := db.snapshots.releases.Load()
			c.change()
			if got := db.snapshots.releases.Load() - before; got != c.want {
				t.Errorf("released %d times, want %d", got, c.want)
			}
		})
	}
}

func commit(t *testing.T, db *DB, note int64) {
	t.Helper()
	must.Do(t, db.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, note) }))
}

// A lookup that begins when the feed has read a change, and before it tells of
// it, must not hold a view from before that change once it is told.
func TestNoSnapshotIsOlderThanWhatWasTold(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	db := migrated(t, at)
	other := open(t, optionsOf(at, twoSteps()))
	lookup := db.Lookup(`SELECT count(*) FROM notes WHERE ` + anyNumber + ` AND id >= $2`)
	everyReader := func() (n int64) {
		t.Helper()
		for range cap(lookup.readers.inUse) {
			lookup.readers.turn()
			must.Do(t, lookup.Row(t.Context(), 1, 0, &n))
		}
		return n
	}
	db.snapshots.follow(true) // as a live feed does
	everyReader()
	must.Do(t, other.Tx(t.Context(), func(q Queries) error {
		if err := q.Mark(t.Context(), "notes", ""); err != nil {
			return err
		}
		return addNote(t.Context(), q, 1)
	}))
	conn := must.Get(db.read.Conn(t.Context()))(t)
	defer conn.Close()
	rows, err := list(t.Context(), conn, scanNumbered, selectChanges, 0)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d changes, %v", len(rows), err)
	}
	everyReader() // opens snapshots between the reading of a change and the telling
	db.Watch(Watcher{Changed: func(string, string) {
		expect.Equalf(t, everyReader(), 1, "notes are seen when their change is told")
	}, Lost: func() {}, Live: func() {}})
	expect.Equalf(t, db.follow(rows, 0), rows[0].id, "followed to")
}

// SQLite can't bring the whole log into the database at the end of a commit that
// readers do not know yet; without a checkpoint of ours it would grow for ever.
func TestLookupsLetTheLogBeReset(t *testing.T) {
	t.Parallel()
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	db.snapshots.follow(true)
	lookup := db.Lookup(`SELECT count(*) FROM notes WHERE ` + anyNumber + ` AND id >= $2`)
	work := func(from, to int64) {
		t.Helper()
		for id := from; id < to; id++ {
			var n int64
			for range cap(lookup.readers.inUse) {
				lookup.readers.turn()
				must.Do(t, lookup.Row(t.Context(), 1, 0, &n))
			}
			must.Do(t, db.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, id) }))
		}
	}
	work(0, 1500) // more than SQLite's own limit of 1,000 pages
	before := logSize(t, db)
	for round := range int64(3) {
		must.Do(t, db.checkpoint(t.Context()))
		work(1500+500*round, 2000+500*round)
	}
	if after := logSize(t, db); after > before {
		t.Errorf("the log grew from %d to %d bytes although it was brought in", before, after)
	}
}

// A log that is started again keeps its length, and asks for no checkpoint before it is
// full again.
func TestALogThatWasBroughtInAsksForNoCheckpoint(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	must.Get(db.Queries().Exec(t.Context(), `CREATE TABLE texts (text text)`))(t)
	due := func(commits, length int) (times int) {
		t.Helper()
		for range commits {
			must.Do(t, db.Tx(t.Context(), func(q Queries) error {
				_, err := q.Exec(t.Context(), `INSERT INTO texts VALUES ($1)`, strings.Repeat("x", length))
				return err
			}))
			db.watchLog()
			select {
			case <-db.logDue:
				times++
				must.Do(t, db.checkpoint(t.Context()))
			default:
			}
		}
		return times
	}
	const mib = 1 << 20
	if n := due(logLimit/mib+4, mib); n == 0 {
		t.Errorf("%d MiB in the log, and no checkpoint", logLimit/mib+4)
	}
	if n := due(20, 10); n != 0 {
		t.Errorf("%d of 20 small commits asked for a checkpoint; the log has %d bytes", n, logSize(t, db))
	}
	if size := logSize(t, db); size < logLimit/2 {
		t.Errorf("the log was cut to %d bytes", size)
	}
}

func logSize(t *testing.T, db *DB) int64 {
	t.Helper()
	log := must.Get(os.Stat(db.options.Path + "-wal"))(t)
	return log.Size()
}

// turn makes the reader that has waited longest the next.
func (r *readers) turn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle[1:], r.idle[0])
}

func TestLookupsWaitForAReader(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	lookup := db.Lookup(`SELECT count(*) FROM notes WHERE ` + anyNumber + ` AND id >= $2`)
	readers := lookup.readers
	var taken []*reader
	for range cap(readers.inUse) {
		one := must.Get(readers.take(t.Context()))(t)
		taken = append(taken, one)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var n int64
	if err := lookup.Row(over, 1, 0, &n); !errors.Is(err, context.Canceled) {
		t.Errorf("a look-up whose context has ended: %v", err)
	}
	found := make(chan error, 1)
	go func() { found <- lookup.Row(t.Context(), 1, 0, &n) }()
	for _, one := range taken {
		readers.put(one)
	}
	expect.NoErrorf(t, <-found, "a lookup when a reader is free")
}
