// Package addontest opens addons for tests. Only tests import it.
package addontest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Noon is what the clock of a fixture shows at first.
var Noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// Who acts, and from where.
var (
	Client   = netip.MustParseAddr("192.0.2.7")
	Operator = people.Operator("tester")
	User     = people.Actor{Kind: people.KindUser, ID: "ana@site.example", User: 1, Administrator: true, FrontEnd: people.FrontEndPage, Addr: Client}
	Program  = people.Actor{Kind: people.KindKey, ID: "1 First pair", FrontEnd: people.FrontEndAPI, Addr: Client, Secret: true}
)

// Loopback is the private network in which tests have their servers.
var Loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// optionsOf are the options for the addon of a database.
func optionsOf(at dbtest.DB, o addon.Options) addon.Options {
	o.Dir, o.URL, o.Version, o.HashCost = at.Dir, at.URL, "1.2.3", people.TestCost
	return o
}

// NewTemplate returns a template of an addon after its first update at a time, with what more adds.
func NewTemplate(at time.Time, more ...func(context.Context, *addon.Addon) error) *dbtest.Template {
	return dbtest.NewTemplate(func(db dbtest.DB) error {
		ctx := context.Background()
		a, err := addon.Open(ctx, optionsOf(db, addon.Options{Options: instance.Options{Now: func() time.Time { return at }}}))
		if err != nil {
			return err
		}
		_, err = a.Setup.Update(ctx, Operator, nil)
		for _, add := range more {
			if err == nil {
				err = add(ctx, a)
			}
		}
		return errors.Join(err, a.Close())
	})
}

// Open opens the addon of a database, and closes it with the test.
func Open(t testing.TB, at dbtest.DB, o addon.Options) *addon.Addon {
	t.Helper()
	a := must.Get(addon.Open(t.Context(), optionsOf(at, o)))(t)
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// openDatabase opens the database of an addon as another process would.
func openDatabase(t testing.TB, at dbtest.DB) *sqldb.DB {
	t.Helper()
	return must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, addon.Product.DatabaseName()), Schemas: addondb.Schemas}))(t)
}

// Database opens the database of an addon as another process would, and closes it with the test.
func Database(t testing.TB, at dbtest.DB) *addondb.DB {
	t.Helper()
	db := openDatabase(t, at)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return addondb.New(db)
}

// Fixture is an addon, the clock it reads, where it lives and what it logged.
type Fixture struct {
	*addon.Addon
	Clock *dbtest.Clock
	At    dbtest.DB
	Log   *bytes.Buffer
}

// New opens an addon that was not looked at.
func New(t testing.TB, at dbtest.DB, c *dbtest.Clock) *Fixture {
	t.Helper()
	f := &Fixture{Clock: c, At: at, Log: &bytes.Buffer{}}
	f.Addon = Open(t, at, addon.Options{Options: instance.Options{Now: c.Now, Log: slog.New(slog.NewTextHandler(f.Log, nil))}, AllowPrivate: Loopback})
	return f
}

// Updated is an addon after its first update.
func Updated(t testing.TB, at dbtest.DB) *Fixture {
	t.Helper()
	f := New(t, at, dbtest.NewClock(Noon))
	f.MustUpdate(t)
	return f
}

// Again opens the same addon once more, as another process would.
func (f *Fixture) Again(t testing.TB) *Fixture {
	t.Helper()
	g := New(t, f.At, f.Clock)
	must.Do(t, g.Prepare(t.Context()))
	return g
}

var updated = NewTemplate(Noon)

// Engines runs fn with an updated addon on each engine, beside other tests.
func Engines(t *testing.T, fn func(t *testing.T, f *Fixture)) {
	t.Helper()
	t.Parallel()
	updated.Engines(t, func(t *testing.T, at dbtest.DB) {
		f := &Fixture{At: at, Clock: dbtest.NewClock(Noon)}
		fn(t, f.Again(t))
	})
}

// Run does the background work of an addon until the test ends, as a server does.
func Run(t testing.TB, a *addon.Addon) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Serve is [Run], and waits until the public answers are cached.
func (f *Fixture) Serve(t testing.TB) {
	t.Helper()
	Run(t, f.Addon)
	var last *settings.Published
	for ; ; runtime.Gosched() { // the addon may not be ready, and what is not cached is another object each time
		now, err := f.Settings.Published(t.Context())
		if err == nil && now == last {
			return
		}
		last = now
	}
}

// UpdateUntil is a child that runs an update at a time, and waits at the point with the number of its
// step, or when it has done everything. Every question for the time and every step that is done is a point.
func UpdateUntil(step string, place dbtest.DB, now time.Time) error {
	point, err := dbtest.StopAt(step)
	if err != nil {
		return err
	}
	ctx := context.Background()
	a, err := addon.Open(ctx, optionsOf(place, addon.Options{Options: instance.Options{Now: func() time.Time { point(); return now }}}))
	if err != nil {
		return err
	}
	if _, err := a.Setup.Update(ctx, Operator, func(setup.Step) { point() }); err != nil {
		return err
	}
	fmt.Println("waiting: done")
	select {}
}
