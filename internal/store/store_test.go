package store

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/transfer"
)

var (
	operator = people.Operator("tester")
	noon     = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	client   = netip.MustParseAddr("192.0.2.7")
)

// clock is a fake clock. It stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: noon} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// fixture is a prepared store, the clock it reads and where it lives.
type fixture struct {
	*Store
	clock *clock
	at    dbtest.DB
}

func optionsOf(at dbtest.DB, c *clock) Options {
	return Options{Dir: at.Dir, URL: at.URL, Now: c.Now, HashCost: people.TestCost}
}

// opened opens a store without preparing it, and closes it with the test.
func opened(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// prepared is an empty store.
func prepared(t testing.TB, at dbtest.DB) *fixture {
	t.Helper()
	c := newClock()
	s := opened(t, optionsOf(at, c))
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &fixture{s, c, at}
}

// again opens the same store once more, as another process would.
func (f *fixture) again(t testing.TB) *fixture {
	t.Helper()
	s := opened(t, optionsOf(f.at, f.clock))
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &fixture{s, f.clock, f.at}
}

// engines runs fn with an empty store on each engine, beside other tests: most of
// what a test of a database does is to wait for a disk.
func engines(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	emptyStore.Engines(t, func(t *testing.T, at dbtest.DB) { fn(t, prepared(t, at)) })
}

// eitherShops is shops for a case of a table, on one engine ([dbtest.Either]).
func eitherShops(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	fn(t, prepared(t, twoShopsStore.New(t, dbtest.Either(t))))
}

// emptyStore is a prepared store without content.
var emptyStore = dbtest.NewTemplate(func(at dbtest.DB) error { return newShop(at, "") })

// twoShopsStore is a store that holds twoShops.
var twoShopsStore = dbtest.NewTemplate(func(at dbtest.DB) error { return newShop(at, twoShops) })

// newShop prepares a store and imports a file.
func newShop(at dbtest.DB, file string) error {
	ctx := context.Background()
	s, err := Open(ctx, optionsOf(at, newClock()))
	if err != nil {
		return err
	}
	err = s.Prepare(ctx)
	if err == nil && file != "" {
		_, err = s.Transfer.Import(ctx, operator, strings.NewReader(file), transfer.ImportOptions{})
	}
	return errors.Join(err, s.Close())
}

// shops runs fn with a store on each engine that holds the two small shops of
// twoShops.
func shops(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	twoShopsStore.Engines(t, func(t *testing.T, at dbtest.DB) { fn(t, prepared(t, at)) })
}

// mustCreate creates a key and returns it with its value.
func (f *fixture) mustCreate(t testing.TB, n NewKey) (Key, string) {
	t.Helper()
	if n.Name == "" {
		n.Name = "web"
	}
	if n.Class == "" {
		n.Class = ClassSecret
	}
	k, token, err := f.CreateKey(t.Context(), operator, n)
	if err != nil {
		t.Fatal(err)
	}
	return k, token
}

// actorOf is who acts with a key.
func (f *fixture) actorOf(t testing.TB, token string) people.Actor {
	t.Helper()
	access, err := f.Validation.Authenticate(t.Context(), token, client)
	if err != nil {
		t.Fatal(err)
	}
	return access.Actor
}

// fillKeyCache fills the key cache of a store as its background work does.
func (f *fixture) fillKeyCache(t testing.TB) {
	t.Helper()
	f.Validation.Watchers()[0].Live()
	if err := f.Validation.FillKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// feedLive reports when changes by others arrive.
func (f *fixture) feedLive() <-chan struct{} {
	live := make(chan struct{}, 100)
	f.database.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() {}, Live: func() { live <- struct{}{} }})
	return live
}

// run does a store's background work until the test ends, and waits until its
// keys are cached.
func (f *fixture) run(t testing.TB) {
	t.Helper()
	live := f.feedLive()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := await(t, ended); err != nil {
			t.Error(err)
		}
	})
	await(t, live)
	if err := f.Validation.FillKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// rows counts the rows of a table.
func (f *fixture) rows(t testing.TB, table string) int64 {
	t.Helper()
	n, err := sqldb.One(t.Context(), f.database.Queries(), sqldb.Value[int64], `SELECT count(*) FROM `+table)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wantError wants one of our errors by its code; "" wants none.
func wantError(t testing.TB, err error, code string) {
	t.Helper()
	if got := codeOf(err); got != code {
		t.Errorf("error %v, want the code %q", err, code)
	}
}

// codeOf is the code of one of our errors, "" for no error.
func codeOf(err error) string {
	var ours *countersign.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &ours):
		return ours.Code
	}
	return "not ours: " + err.Error()
}

// messageOf is the public sentence of one of our errors.
func messageOf(err error) string {
	var ours *countersign.Error
	if errors.As(err, &ours) {
		return ours.Message
	}
	return ""
}

func at(text string) countersign.Timestamp {
	stamp, err := countersign.ParseTimestamp(text)
	if err != nil {
		panic(err)
	}
	return stamp
}

// await receives from a channel. The time is a guard against a test that hangs,
// far beyond what anything here takes.
func await[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(5 * time.Minute):
		t.Fatal("nothing came within five minutes")
		panic("unreachable")
	}
}

// dump reads all text and blobs of a table.
func (f *fixture) dump(t testing.TB, table string) string {
	t.Helper()
	if f.at.Engine == dbtest.Postgres {
		rows, err := sqldb.List(t.Context(), f.database.Queries(), sqldb.Value[string], `SELECT row_to_json(t)::text FROM "`+table+`" t`)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(rows, "\n")
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	err := f.database.Session(t.Context(), func(session *sqldb.DB) error { // which puts it in no transaction
		_, err := session.Queries().Exec(t.Context(), `VACUUM INTO $1`, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func contextWithCancel(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}
