package addon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

var (
	operator = people.Operator("tester")
	noon     = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	client   = netip.MustParseAddr("192.0.2.7")
	user     = people.Actor{Kind: people.KindUser, ID: "ana@site.example", User: 1, Administrator: true, Face: people.FacePage, Addr: client}
	program  = people.Actor{Kind: people.KindKey, ID: "1 First pair", Face: people.FaceAPI, Addr: client, Secret: true}
)

// clock is a fake clock. It stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fixture is an addon, the clock it reads, where it lives and what it logged.
type fixture struct {
	*Addon
	clock *clock
	at    dbtest.DB
	log   *bytes.Buffer
}

// opened opens an addon that was not looked at, and closes it with the test.
func opened(t testing.TB, at dbtest.DB, c *clock) *fixture {
	t.Helper()
	var log bytes.Buffer
	a, err := Open(t.Context(), Options{
		Dir: at.Dir, URL: at.URL, Version: "1.2.3", HashCost: people.TestCost, Now: c.Now, Log: slog.New(slog.NewTextHandler(&log, nil)), AllowPrivate: loopback,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{a, c, at, &log}
}

// updated is an addon after its first update.
func updated(t testing.TB, at dbtest.DB) *fixture {
	t.Helper()
	f := opened(t, at, &clock{now: noon})
	f.mustUpdate(t)
	return f
}

// again opens the same addon once more, as another process would.
func (f *fixture) again(t testing.TB) *fixture {
	t.Helper()
	g := opened(t, f.at, f.clock)
	if err := g.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

// engines runs fn with an updated addon on each engine, beside other tests.
func engines(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	updatedAddon.Engines(t, func(t *testing.T, at dbtest.DB) {
		f := opened(t, at, &clock{now: noon})
		if err := f.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		fn(t, f)
	})
}

// updatedAddon is an addon after its first update.
var updatedAddon = dbtest.NewTemplate(func(at dbtest.DB) error {
	ctx := context.Background()
	a, err := Open(ctx, Options{Dir: at.Dir, URL: at.URL, Version: "1.2.3", HashCost: people.TestCost, Now: func() time.Time { return noon }, AllowPrivate: loopback})
	if err != nil {
		return err
	}
	_, err = a.Update(ctx, operator, nil)
	return errors.Join(err, a.Close())
})

// places runs fn with an empty place on each engine.
func places(t *testing.T, fn func(t *testing.T, at dbtest.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.Engines(t, fn)
}

// feedLive reports when changes by other processes arrive.
func (f *fixture) feedLive() <-chan struct{} {
	live := make(chan struct{}, 8)
	f.database.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() {}, Live: func() { live <- struct{}{} }})
	return live
}

// run runs the addon's background work until the test ends, and waits until it
// caches the public answers.
func (f *fixture) run(t *testing.T) {
	t.Helper()
	live := f.feedLive()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-live:
	case err := <-done:
		done <- err
		t.Fatalf("Run ended: %v", err)
	}
	f.served(t)
}

func (f *fixture) mustUpdate(t testing.TB) UpdateReport {
	t.Helper()
	report, err := f.Update(t.Context(), operator, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func (f *fixture) mustSet(t testing.TB, changes map[string]string) settings.Draft {
	t.Helper()
	s, err := f.Settings.Set(t.Context(), operator, settings.Edit{}, changes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (f *fixture) mustPublish(t testing.TB, note string) settings.Publication {
	t.Helper()
	p, err := f.Settings.Publish(t.Context(), operator, 0, note)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *fixture) mustPackage(t testing.TB, id int64, name string, paid bool) {
	t.Helper()
	if err := f.IAP.AddPackage(t.Context(), operator, iap.Package{ID: id, Name: name, Rank: id, Paid: paid}); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) settings(t testing.TB) settings.Draft {
	t.Helper()
	s, err := f.Settings.Draft(t.Context(), operator)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (f *fixture) value(t testing.TB, key string) string {
	t.Helper()
	one, there := f.settings(t).Get(key)
	if !there {
		t.Fatalf("no setting %s", key)
	}
	return one.Value
}

func (f *fixture) served(t testing.TB) *settings.Published {
	t.Helper()
	p, err := f.Settings.Published(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// view is what apps are served about in-app purchases.
func (f *fixture) view(t testing.TB) *iap.Published {
	t.Helper()
	p, err := f.IAP.Published(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// audits lists the audit log, oldest first: action, subject, before -> after.
func (f *fixture) audits(t testing.TB) []string {
	t.Helper()
	lines, err := f.db.Audits(t.Context(), peopledb.AuditFilter{Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[len(lines)-1-i] = fmt.Sprintf("%s %s %s [%s]: %s -> %s", l.Actor, l.Action, l.Subject, l.Face, l.Before, l.After)
	}
	return texts
}

// everything is all text of the database, for tests that look for secrets.
func (f *fixture) everything(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	for _, table := range []string{"settings", "versions", "audit", "meta", "definitions"} {
		query := `SELECT CAST(t AS text) FROM ` + table + ` t`
		if f.at.Engine == dbtest.SQLite {
			query = map[string]string{
				"settings":    `SELECT name || kind || value FROM settings`,
				"versions":    `SELECT note || settings || body FROM versions`,
				"audit":       `SELECT action || subject || detail || before || after FROM audit`,
				"meta":        `SELECT name || value FROM meta WHERE name <> 'commits'`,
				"definitions": `SELECT name || fallback FROM definitions`,
			}[table]
		}
		list, err := sqldb.List(t.Context(), f.database.Queries(), sqldb.Value[string], query)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(strings.Join(list, "\n"))
	}
	return all.String()
}

func codeOf(err error) string {
	var e *countersign.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// wantError wants an error with a code, or none for "".
func wantError(t testing.TB, err error, code string) {
	t.Helper()
	switch {
	case code == "" && err != nil:
		t.Errorf("error %v, want none", err)
	case code != "" && codeOf(err) != code:
		t.Errorf("error %v, want the code %s", err, code)
	}
}

// wantFields wants a refusal that is about exactly these names.
func wantFields(t testing.TB, err error, names ...string) *countersign.Error {
	t.Helper()
	var e *countersign.Error
	if !errors.As(err, &e) || e.Kind != countersign.KindInvalid {
		t.Fatalf("error %v, want a refusal of %q", err, names)
	}
	if len(e.Fields) != len(names) {
		t.Errorf("fields %v, want %q", e.Fields, names)
	}
	for _, name := range names {
		if e.Fields[name] == "" {
			t.Errorf("nothing is said about %s: %v", name, e.Fields)
		}
	}
	return e
}
