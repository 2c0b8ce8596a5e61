// Package storetest opens stores for tests, fills them and reads them. Only tests import it.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/transfer"
)

var (
	// Operator acts in tests.
	Operator = people.Operator("tester")
	// Noon is where clocks stand.
	Noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	// Client is where programs with a key are.
	Client = netip.MustParseAddr("192.0.2.7")
)

// NewClock returns a clock that stands at Noon.
func NewClock() *dbtest.Clock { return dbtest.NewClock(Noon) }

// Fixture is a prepared store, the clock it reads and where it lives.
type Fixture struct {
	*store.Store
	Clock *dbtest.Clock
	At    dbtest.DB
	// DB is the same database on connections of its own, as another program has it.
	DB func() *storedb.DB
}

func fixtureOf(t testing.TB, s *store.Store, c *dbtest.Clock, at dbtest.DB) *Fixture {
	return &Fixture{s, c, at, sync.OnceValue(func() *storedb.DB {
		db := must.Get(sqldb.Open(context.Background(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, store.Product.DatabaseName()), NoCreate: true, Schemas: storedb.Schemas}))(t)
		t.Cleanup(func() { _ = db.Close() })
		return storedb.New(db)
	})}
}

// New opens and prepares a store with a clock and further options.
func New(t testing.TB, at dbtest.DB, c *dbtest.Clock, o store.Options) *Fixture {
	t.Helper()
	o.Now = c.Now
	return fixtureOf(t, Open(t, at, o), c, at)
}

// Prepared opens and prepares a store.
func Prepared(t testing.TB, at dbtest.DB) *Fixture {
	t.Helper()
	return New(t, at, NewClock(), store.Options{})
}

// Unprepared opens a store without preparing it.
func Unprepared(t testing.TB, at dbtest.DB) *Fixture {
	t.Helper()
	return (&Fixture{Clock: NewClock(), At: at}).Unprepared(t)
}

// Again opens and prepares the same store once more, as another process would.
func (f *Fixture) Again(t testing.TB) *Fixture {
	t.Helper()
	return New(t, f.At, f.Clock, store.Options{})
}

// Unprepared is Again without preparing the store.
func (f *Fixture) Unprepared(t testing.TB) *Fixture {
	t.Helper()
	return fixtureOf(t, Opened(t, OptionsOf(f.At, f.Clock)), f.Clock, f.At)
}

// WithCache is Again with a response cache.
func (f *Fixture) WithCache(t testing.TB) *Fixture {
	t.Helper()
	return New(t, f.At, f.Clock, store.Options{CacheBytes: 1 << 20})
}

// Engines runs fn with an empty store on each engine ([dbtest.Engines]), beside other tests.
func Engines(t *testing.T, fn func(t *testing.T, f *Fixture)) {
	t.Helper()
	t.Parallel()
	EmptyStore.Engines(t, func(t *testing.T, at dbtest.DB) { fn(t, Prepared(t, at)) })
}

// EitherShops is Shops for a case of a table, on one engine ([dbtest.Either]).
func EitherShops(t *testing.T, fn func(t *testing.T, f *Fixture)) {
	t.Helper()
	t.Parallel()
	fn(t, Prepared(t, TwoShopsStore.New(t, dbtest.Either(t))))
}

// EmptyStore is a prepared store without content.
var EmptyStore = newTemplate("")

// TwoShopsStore is a store that holds TwoShops.
var TwoShopsStore = newTemplate(TwoShops)

// Shops runs fn with a store on each engine that holds the two small shops of
// TwoShops.
func Shops(t *testing.T, fn func(t *testing.T, f *Fixture)) {
	t.Helper()
	t.Parallel()
	TwoShopsStore.Engines(t, func(t *testing.T, at dbtest.DB) { fn(t, Prepared(t, at)) })
}

// FillKeyCache fills the key cache of a store as its background work does.
func (f *Fixture) FillKeyCache(t testing.TB) {
	t.Helper()
	f.Validation.Watchers()[0].Live()
	must.Do(t, f.Validation.FillKeys(t.Context()))
}

// FeedLive reports when changes by others arrive at a store that has a database.
func FeedLive(database *sqldb.DB) <-chan struct{} {
	live := make(chan struct{}, 100)
	database.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() {}, Live: func() { live <- struct{}{} }})
	return live
}

// Start does a store's background work until the test ends, and waits until its
// keys are cached. The database is the store's own.
func (f *Fixture) Start(t testing.TB, database *sqldb.DB) {
	t.Helper()
	live := FeedLive(database)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := Await(t, ended); err != nil {
			t.Error(err)
		}
	})
	Await(t, live)
	must.Do(t, f.Validation.FillKeys(t.Context()))
}

// Await receives from a channel. The time is a guard against a test that hangs,
// far beyond what anything here takes.
func Await[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(5 * time.Minute):
		t.Fatal("nothing came within five minutes")
		panic("unreachable")
	}
}

// NewTemplate returns a template of a store that holds the lines of a file, written at the
// time that o says, and what more adds.
func NewTemplate(file string, o store.Options, more ...func(context.Context, *store.Store) error) *dbtest.Template {
	return dbtest.NewTemplate(func(db dbtest.DB) error {
		lines, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return fill(db, o, string(lines), more...)
	})
}

// newTemplate returns a template of a store that holds lines, written at Noon.
func newTemplate(lines string) *dbtest.Template {
	return dbtest.NewTemplate(func(db dbtest.DB) error {
		return fill(db, store.Options{Options: instance.Options{Now: NewClock().Now}}, lines)
	})
}

// fill makes a store that holds lines and what more adds.
func fill(db dbtest.DB, o store.Options, lines string, more ...func(context.Context, *store.Store) error) error {
	ctx := context.Background()
	s, err := store.Open(ctx, optionsOf(db, o))
	if err != nil {
		return err
	}
	err = s.Prepare(ctx)
	if err == nil && lines != "" {
		var bad []error
		_, err = s.Transfer.Import(ctx, Operator, strings.NewReader(lines), transfer.ImportOptions{Bad: func(line int, reason string, _ []byte) {
			bad = append(bad, fmt.Errorf("line %d: %s", line, reason))
		}})
		err = errors.Join(append(bad, err)...)
	}
	for _, add := range more {
		if err == nil {
			err = add(ctx, s)
		}
	}
	return errors.Join(err, s.Close())
}

// optionsOf are the options for the store of a database.
func optionsOf(db dbtest.DB, o store.Options) store.Options {
	o.Dir, o.URL, o.HashCost = db.Dir, db.URL, people.TestCost
	return o
}

// OptionsOf are the options of a store that reads a clock.
func OptionsOf(at dbtest.DB, c *dbtest.Clock) store.Options {
	return optionsOf(at, store.Options{Options: instance.Options{Now: c.Now}})
}

// Opened opens a store without preparing it, and closes it with the test.
func Opened(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	s := must.Get(store.Open(t.Context(), o))(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Open opens and prepares the store of a database, and closes it with the test.
func Open(t testing.TB, db dbtest.DB, o store.Options) *store.Store {
	t.Helper()
	s := Opened(t, optionsOf(db, o))
	must.Do(t, s.Prepare(t.Context()))
	return s
}
