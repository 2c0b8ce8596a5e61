package membership

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestMain(m *testing.M) { dbtest.Main(m, beKilled) }

var (
	noon     = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	month    = noon.AddDate(0, 1, 0)
	operator = people.Operator("tester")
	program  = people.Actor{Kind: people.KindKey, ID: "1 First pair", FrontEnd: people.FrontEndAPI, Secret: true}
	stranger = people.Actor{Kind: people.KindVisitor, FrontEnd: people.FrontEndAPI}
)

// application is what every fixture sells in at first.
const application = "com.example.app"

// The packages of every fixture.
const silver, gold = 1, 2

// fixture is a service on a database, a scripted store, a clock that stands still, and what
// the service appended and put.
type fixture struct {
	*Service
	at dbtest.DB
	// store is that of the application, elsewhere of all others, and simulated of test mode.
	store, otherStore, simulated *scripted
	clock                        *dbtest.Clock

	mu      sync.Mutex
	selling iap.Selling
	events  []events.Event
	tasks   map[string]jobs.Task
	added   map[string]int // when a task was put, in the order of all
	waits   []time.Duration
	// ended are the transactions with events, after which nothing may be put; late counts
	// what was.
	ended map[*addondb.DB]bool
	late  int
	// point is called at each point at which a process may be killed.
	point func()
}

var tables = dbtest.NewTemplate(func(at dbtest.DB) error {
	ctx := context.Background()
	db, err := openDatabase(ctx, at)
	if err != nil {
		return err
	}
	err = errors.Join(db.Migrate(ctx), addondb.New(db).Tx(ctx, func(tx *addondb.DB) (err error) {
		for _, p := range []addondb.Package{{ID: silver, Name: "Silver", Rank: 1, Paid: true}, {ID: gold, Name: "Gold", Rank: 2, Paid: true}} {
			err = errors.Join(err, tx.AddPackage(ctx, p))
		}
		_, errLockSimulator := tx.LockSimulator(ctx, sqldb.Time{Time: noon})
		return errors.Join(err, errLockSimulator, tx.SetSimulator(ctx, []byte("not empty"), sqldb.Time{Time: noon}))
	}))
	box, errBox := keyfile.Create(at.Dir)
	if errBox == nil {
		errBox = db.Queries().SetMeta(ctx, keyfile.CheckName, box.Check())
	}
	return errors.Join(err, errBox, db.Close())
})

func openDatabase(ctx context.Context, at dbtest.DB) (*sqldb.DB, error) {
	return sqldb.Open(ctx, sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "addon.db"), Schemas: addondb.Schemas})
}

// engines runs fn with a new fixture on each engine.
func engines(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	tables.Engines(t, func(t *testing.T, at dbtest.DB) { fn(t, opened(t, at)) })
}

// opened is a service on a database, as a process has it.
func opened(t *testing.T, at dbtest.DB) *fixture {
	t.Helper()
	f := must.Get(openFixture(t.Context(), at))(t)
	t.Cleanup(func() {
		if err := f.db.Queries.DB().Close(); err != nil {
			t.Error(err)
		}
		if f.late > 0 {
			t.Errorf("%d tasks were put after the events of their transaction", f.late)
		}
	})
	return f
}

func openFixture(ctx context.Context, at dbtest.DB) (*fixture, error) {
	f := &fixture{at: at, clock: dbtest.NewClock(noon), tasks: map[string]jobs.Task{}, added: map[string]int{}, ended: map[*addondb.DB]bool{}, point: func() {}}
	db, err := openDatabase(ctx, at)
	if err != nil {
		return nil, err
	}
	box, err := (&keyfile.Location{Service: keyfile.Addon, Dir: at.Dir}).Load()
	if err != nil {
		return nil, err
	}
	for _, store := range []**scripted{&f.store, &f.otherStore, &f.simulated} {
		*store = newScripted()
		(*store).clock = func() time.Time { return f.clock.Now().Truncate(time.Second) }
	}
	f.selling = iap.Selling{Enabled: true, Application: application, ServiceAccount: []byte("{}"), Packages: map[string]int64{"silver_monthly": silver, "gold_monthly": gold}}
	control := &access.Control{Gate: instance.NewGate(keyfile.Addon), Now: f.now}
	control.Open(box)
	control.SetState(access.StateReady)
	f.Service = New(Options{DB: addondb.New(db), Access: control, Log: slog.New(slog.DiscardHandler)})
	f.Service.selling = func(context.Context) (iap.Selling, error) { f.mu.Lock(); defer f.mu.Unlock(); return f.selling, nil }
	f.openStore = func(s iap.Selling) (Store, error) { return f.named(s), nil }
	f.Service.append, f.Service.put, f.Service.postpone = f.append, f.put, f.postpone
	f.simulator = nobody{}
	f.wait = func(_ context.Context, d time.Duration) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.waits = append(f.waits, d)
		return true
	}
	f.jitter = func(bound time.Duration) time.Duration { return bound / 2 }
	f.selling.Leeway, f.selling.Policy.Unknown = entitle.Leeway, entitle.RefuseUnknown // most tests hand out no account ids
	return f, nil
}

// nobody is a simulated store in which nobody bought anything.
type nobody struct{ Simulator }

func (nobody) Rename(context.Context, *addondb.DB, string, string) error { return nil }

// named is the store that settings name.
func (f *fixture) named(s iap.Selling) *scripted {
	switch {
	case s.Simulated:
		return f.simulated
	case s.Application != application:
		return f.otherStore
	}
	return f.store
}

func (f *fixture) now() time.Time {
	f.point()
	return f.clock.Now()
}

func (f *fixture) append(_ context.Context, tx *addondb.DB, e events.Event) error {
	f.point()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended[tx] = true
	f.events = append(f.events, e)
	return nil
}

// put keeps a task as the queue does: one for each kind and key, due at the earliest time or exactly at its own.
func (f *fixture) put(_ context.Context, tx *addondb.DB, task jobs.Task) error {
	f.point()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended[tx] {
		f.late++
	}
	id := task.Kind + " " + task.Key
	open, there := f.tasks[id]
	if !there {
		f.added[id] = len(f.added)
	}
	if !there || task.Exact || task.Due.Before(open.Due) {
		f.tasks[id] = task
	}
	return nil
}

func (f *fixture) postpone(_ context.Context, _ *addondb.DB, kind string, until time.Time) error {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, task := range f.tasks {
		if task.Kind == kind && !task.Due.After(now) {
			task.Due = until
			f.tasks[id] = task
		}
	}
	return nil
}

// run does the tasks that are due, and those that they put, until none is. It returns the
// errors of tasks, which stay.
func (f *fixture) run(t *testing.T) (failed []error) {
	t.Helper()
	failed = must.Get(f.runTasks(t.Context()))(t)
	return failed
}

// runTasks is run without a test.
func (f *fixture) runTasks(ctx context.Context) (failed []error, err error) {
	works := f.works()
	done := map[string]bool{}
	for range 1000 {
		id, task, found := f.next(done)
		if !found {
			return failed, nil
		}
		payload, err := json.Marshal(task.Payload)
		if err != nil {
			return failed, err
		}
		again, err := works[task.Kind].do(ctx, payload)
		switch {
		case err != nil && !fault.IsUnavailable(err):
			return failed, fmt.Errorf("%s: %w", id, err)
		case err != nil:
			failed = append(failed, err)
			again = f.now()
			done[id] = true
		}
		if !again.IsZero() {
			task.Due = again
			if err := f.put(ctx, nil, task); err != nil {
				return failed, err
			}
		}
	}
	return failed, errors.New("the tasks never end")
}

// next takes the task that is due first and was not tried before.
func (f *fixture) next(done map[string]bool) (id string, task jobs.Task, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for other, one := range f.tasks {
		earlier := cmp.Or(one.Due.Compare(task.Due), f.added[other]-f.added[id]) < 0
		if !one.Due.After(f.clock.Now()) && !done[other] && (!found || earlier) {
			id, task, found = other, one, true
		}
	}
	delete(f.tasks, id)
	return id, task, found
}

// due returns when a task is due, zero for none.
func (f *fixture) due(kind, key string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tasks[kind+" "+key].Due
}

// eventTypes returns the events since the last call, as "type user", in order.
func (f *fixture) eventTypes() (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.events {
		list = append(list, strings.TrimPrefix(string(e.Type), "membership.")+" "+e.UserID)
	}
	f.events = nil
	return list
}

func (f *fixture) wantEvents(t *testing.T, want ...string) {
	t.Helper()
	if got := f.eventTypes(); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// wantMembership compares status, package and version of a user's membership.
func (f *fixture) wantMembership(t *testing.T, user string, status entitle.Status, packageID, version int64) {
	t.Helper()
	m, err := membershipOf(t.Context(), f.db, user)
	if err != nil || m.Status != string(status) || m.PackageID != packageID || m.Version != version {
		t.Errorf("%s has %s of package %d, version %d, %v; want %s of %d, version %d", user, m.Status, m.PackageID, m.Version, err, status, packageID, version)
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if code == "" && err != nil || code != "" && !fault.HasCode(err, code) {
		t.Errorf("%v, want %q", err, code)
	}
}

// sub is a subscription of one product for a month.
func sub(product, account string) play.Subscription {
	return play.Subscription{
		State: play.Active, Account: account, StartedAt: noon, Region: "DE",
		Items: []play.Item{{ProductID: product, BasePlanID: "monthly", Phase: "base", ExpiresAt: month, OrderID: "GPA.1", AutoRenews: true, Price: &play.Money{Currency: "EUR", Units: 4, Nanos: 990_000_000}}},
	}
}

// sell puts a subscription into the store that the settings name.
func (f *fixture) sell(token string, s play.Subscription) { f.named(f.selling).sell(token, s) }

// change changes a subscription there.
func (f *fixture) change(token string, change func(*play.Subscription)) {
	f.named(f.selling).change(token, change)
}

// setDown has the store answer all calls with an error, nil for none.
func (f *fixture) setDown(err error) {
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	f.store.down = err
}

// bought sells and verifies a product for a user.
func (f *fixture) bought(t *testing.T, user, token, product string) Outcome {
	t.Helper()
	f.sell(token, sub(product, f.accountOf(user)))
	o := must.Get(f.Verify(t.Context(), user, token, product))(t)
	return o
}
