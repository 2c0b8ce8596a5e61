package sqldb

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// event is what a watcher is told: "changed topic ref", "lost" or "live".
type event string

// watch records what a database tells its watchers.
func watch(db *DB) <-chan event {
	events := make(chan event, 1000)
	db.Watch(Watcher{
		Changed: func(topic, ref string) { events <- event("changed " + topic + " " + ref) },
		Lost:    func() { events <- "lost" },
		Live:    func() { events <- "live" },
	})
	return events
}

// feed runs the feed of a database until the test ends and waits until it is live.
func feed(t *testing.T, db *DB) <-chan event {
	t.Helper()
	events := watch(db)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		db.Feed(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		await(t, ended)
	})
	awaitEvent(t, events, "live")
	return events
}

// awaitEvent reads events until the wanted one and returns what came before it.
func awaitEvent(t testing.TB, events <-chan event, want event) (before []event) {
	t.Helper()
	for {
		got := await(t, events)
		if got == want {
			return before
		}
		before = append(before, got)
	}
}

func mark(t testing.TB, db *DB, ref string) {
	t.Helper()
	must.Do(t, db.Tx(t.Context(), func(q Queries) error { return q.Mark(t.Context(), "notes", ref) }))
}

func TestOwnMarksAreToldBeforeTxReturns(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		events := watch(db)
		mark(t, db, "7")
		select {
		case got := <-events:
			expect.Equalf(t, got, "changed notes 7", "told")
		default:
			t.Error("Tx returned before the watcher was told")
		}
	})
}

func TestMarksOfASessionAreTold(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		events := watch(db)
		err := db.Session(t.Context(), func(session *DB) error {
			mark(t, session, "7")
			return nil
		})
		if err != nil || len(events) != 1 {
			t.Errorf("%d events, %v", len(events), err)
		}
	})
}

func TestRolledBackMarksAreNotTold(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		events := watch(db)
		_ = db.Tx(t.Context(), func(q Queries) error {
			expect.NoError(t, q.Mark(t.Context(), "notes", "7"))
			return errAct
		})
		if len(events) != 0 {
			t.Errorf("told %q", <-events)
		}
	})
}

func TestMarksAreToldWhenTheOutcomeOfTheCommitIsUnknown(t *testing.T) {
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: proxy.URL, Schemas: []Schema{twoSteps()}})
	events := watch(db)
	err := db.Tx(t.Context(), func(q Queries) error {
		err := q.Mark(t.Context(), "notes", "7")
		proxy.Cut()
		return err
	})
	wantUnavailable(t, err)
	if len(events) != 1 {
		t.Errorf("%d events, want the mark", len(events))
	}
}

// A process hears of its own marks twice: at once, and again through the feed, by
// which a commit whose outcome was unknown may land late.
func TestMarksReachOtherProcessesOnceAndTheirOwnTwice(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		other := open(t, optionsOf(at, twoSteps()))
		events := feed(t, db)
		mark(t, db, "own")
		mark(t, other, "first")
		mark(t, other, "second")
		mark(t, db, "own again")
		mark(t, other, "last")
		got := awaitEvent(t, events, "changed notes last")
		slices.Sort(got) // own marks come at once, all of them when they arrive
		want := []event{
			"changed notes first", "changed notes own", "changed notes own", "changed notes own again", "changed notes own again",
			"changed notes second",
		}
		if !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

func TestChangeBeforeLiveIsNotTold(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		other := open(t, optionsOf(at, twoSteps()))
		mark(t, other, "before")
		events := feed(t, db)
		mark(t, other, "after")
		if got := awaitEvent(t, events, "changed notes after"); len(got) != 0 {
			t.Errorf("told %q before", got)
		}
	})
}

func TestFeedThatEndsIsLost(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		events := watch(db)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			db.Feed(ctx)
		}()
		awaitEvent(t, events, "live")
		cancel()
		await(t, ended)
		expect.Equalf(t, await(t, events), "lost", "told")
	})
}

// A reader that was away while rows were written and pruned has no way to know
// what they said.
func TestPrunedRowsMakeReadersStartAnew(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		prune string
	}{
		{"the first of several rows pruned", `DELETE FROM changes WHERE id = (SELECT min(id) FROM changes)`},
		{"all but the newest row pruned", pruneChanges},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at := dbtest.New(t, dbtest.SQLite)
			db := migrated(t, at)
			other := open(t, optionsOf(at, twoSteps()))
			events := feed(t, db)
			must.Do(t, other.Tx(t.Context(), func(q Queries) error {
				for _, ref := range []string{"a", "b", "c"} {
					if err := q.Mark(t.Context(), "notes", ref); err != nil {
						return err
					}
				}
				args := []any{}
				if c.prune == pruneChanges {
					args = append(args, "9999-01-01T00:00:00Z")
				}
				_, err := q.Exec(t.Context(), c.prune, args...)
				return err
			}))
			if got := await(t, events); got != "live" {
				t.Errorf("told %q, want live: start anew", got)
			}
			mark(t, other, "d")
			if got := awaitEvent(t, events, "changed notes d"); len(got) != 0 {
				t.Errorf("told %q before the next change", got)
			}
		})
	}
}

func TestPruneKeepsWhatIsYoung(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		exec(t, db, `INSERT INTO changes (topic, ref, at) VALUES ('notes', 'old', '2001-01-01T00:00:00Z')`)
		mark(t, db, "young")
		must.Do(t, db.PruneChanges(t.Context()))
		refs, err := List(t.Context(), db.Queries(), Value[string], `SELECT ref FROM changes`)
		if err != nil || !slices.Equal(refs, []string{"young"}) {
			t.Errorf("left are %q, %v; want young", refs, err)
		}
	})
}

func TestPostgresThatGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		away func(*dbtest.Proxy, dbtest.DB)
	}{
		{"the server refuses connections", func(p *dbtest.Proxy, _ dbtest.DB) { p.Cut() }},
		{"the network swallows everything", func(p *dbtest.Proxy, _ dbtest.DB) { p.Freeze() }},
		{"the operator ends the connection", func(_ *dbtest.Proxy, at dbtest.DB) { at.Terminate(t) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at := dbtest.New(t, dbtest.Postgres)
			migrated(t, at)
			proxy := dbtest.NewProxy(t, at)
			db := open(t, Options{URL: proxy.URL, Schemas: []Schema{twoSteps()}})
			events := feed(t, db)
			c.away(proxy, at)
			if got := await(t, events); got != "lost" {
				t.Fatalf("told %q, want lost", got)
			}
			other := open(t, optionsOf(at, twoSteps()))
			mark(t, other, "meanwhile")
			proxy.Restore()
			before := awaitEvent(t, events, "live")
			if slices.ContainsFunc(before, func(e event) bool { return e != "lost" }) {
				t.Errorf("told %q before live", before)
			}
			mark(t, other, "after")
			between := awaitEvent(t, events, "changed notes after")
			// A feed that is back at once may be live before the first mark.
			if slices.ContainsFunc(between, func(e event) bool { return e != "changed notes meanwhile" }) {
				t.Errorf("told %q between live and the next change", between)
			}
		})
	}
}

// Connections that broke while the server was away are not handed out when it is
// back.
func TestNoQueryFailsOnceTheFeedIsBack(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: proxy.URL, Schemas: []Schema{twoSteps()}})
	events := feed(t, db)
	for range 2 { // the driver tries a connection before it is used again the first time
		useAllConnections(t, db)
	}
	proxy.Cut()
	awaitEvent(t, events, "lost")
	proxy.Restore()
	awaitEvent(t, events, "live")
	for i := range readConnections {
		if _, err := One(t.Context(), db.Queries(), Value[int64], `SELECT count(*) FROM notes`); err != nil {
			t.Errorf("query %d: %v", i, err)
		}
	}
}

// Everything passes but notifications: a sign of life does not show it.
func TestAFeedThatHearsNothingIsLost(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: proxy.URL, Schemas: []Schema{twoSteps()}})
	events := feed(t, db)
	proxy.Deafen()
	awaitEvent(t, events, "lost")
	awaitEvent(t, events, "lost") // and does not trust the next connection
	if s := db.Status(); s.FeedLive || s.FeedLosses != 1 {
		t.Errorf("status %+v", s)
	}
	proxy.Restore()
	awaitEvent(t, events, "live")
	if s := db.Status(); !s.FeedLive || s.FeedLosses != 1 {
		t.Errorf("status %+v", s)
	}
}

func TestTheLogSaysThatTheFeedIsLostAndThatItIsBack(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	proxy := dbtest.NewProxy(t, at)
	var log lines
	db := open(t, Options{URL: proxy.URL, Schemas: []Schema{twoSteps()}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	events := feed(t, db)
	for range 2 {
		proxy.Deafen()
		awaitEvent(t, events, "lost")
		awaitEvent(t, events, "lost")
		proxy.Restore()
		awaitEvent(t, events, "live")
	}
	if lost, back := log.count("the change feed is lost"), log.count("the change feed is back"); lost != 2 || back < 1 {
		t.Errorf("told %d losses and %d ends; want 2 and 2:\n%s", lost, back, log.text.String())
	}
}

// lines is a log that may be read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}
