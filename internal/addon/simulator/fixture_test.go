package simulator_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
)

func TestMain(m *testing.M) { dbtest.Main(m, beKilled) }

var (
	operator = people.Operator("tester")
	visitor  = people.Actor{Kind: people.KindVisitor, FrontEnd: people.FrontEndAPI}
	noon     = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
)

// The packages of every fixture.
const silver, gold = 1, 2

// fixture is an addon in test mode, with a clock that stands still until it is moved. What
// would leave the machine fails the test: Google is at an address that answers nothing.
type fixture struct {
	*addon.Addon
	at    dbtest.DB
	clock *dbtest.Clock
	// point is called at each question for the time.
	point func()
}

func (f *fixture) now() time.Time {
	f.point()
	return f.clock.Now()
}

func open(ctx context.Context, at dbtest.DB, options ...func(*addon.Options)) (*fixture, error) {
	f := &fixture{at: at, clock: dbtest.NewClock(noon), point: func() {}}
	o := addon.Options{Options: instance.Options{Dir: at.Dir, URL: at.URL, HashCost: people.TestCost, Now: f.now}}
	for _, set := range options {
		set(&o)
	}
	var err error
	f.Addon, err = addon.Open(ctx, o)
	return f, err
}

// opened is an addon as a process has it.
func opened(t *testing.T, at dbtest.DB, options ...func(*addon.Options)) *fixture {
	t.Helper()
	f, err := open(t.Context(), at, options...)
	if err == nil {
		err = f.Prepare(t.Context())
	}
	must.Do(t, err)
	t.Cleanup(func() {
		expect.NoError(t, f.Close())
	})
	return f
}

// inTestMode is an addon that sells silver and gold in test mode, without an application ID and
// without a service account.
var inTestMode = addontest.NewTemplate(noon, func(ctx context.Context, a *addon.Addon) (err error) {
	for _, p := range []iap.Package{{ID: silver, Name: "Silver", Rank: 1, Paid: true}, {ID: gold, Name: "Gold", Rank: 2, Paid: true}} {
		err = errors.Join(err, a.IAP.AddPackage(ctx, operator, p))
	}
	return errors.Join(err, (&fixture{Addon: a}).publish(ctx, map[string]string{
		iap.KeyEnabled: "1", iap.KeySandboxEnabled: "1", iap.KeyProductMap: `{"store":{"silver_monthly":1,"gold_monthly":2}}`,
	}))
})

// publish changes settings and publishes them.
func (f *fixture) publish(ctx context.Context, values map[string]string) error {
	if _, err := f.Settings.Set(ctx, operator, settings.Edit{}, values); err != nil {
		return err
	}
	_, err := f.Settings.Publish(ctx, operator, 0, "Shop")
	return err
}

// engines runs fn with an addon in test mode on each engine.
func engines(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	inTestMode.AnEngine(t, func(t *testing.T, at dbtest.DB) { fn(t, opened(t, at)) })
}

// buy buys a product for a user.
func (f *fixture) buy(t *testing.T, user, product, replaces string) simulator.Step {
	t.Helper()
	return must.Get(f.Simulator.Buy(t.Context(), operator, simulator.Order{User: user, Product: product, Replaces: replaces}))(t)
}

// do does an act.
func (f *fixture) do(t *testing.T, ref string, act simulator.Act) simulator.Step {
	t.Helper()
	step, err := f.Simulator.Do(t.Context(), operator, ref, act)
	if err != nil {
		t.Fatalf("%s: %v", act, err)
	}
	return step
}

// wantStep compares what a step shows: the state in the store, the membership that the app
// reads, and the types of the events.
func wantStep(t *testing.T, step simulator.Step, state, status string, packageID int64, events ...string) {
	t.Helper()
	var answer struct {
		Status     string                    `json:"status"`
		Membership countersign.IAPMembership `json:"membership"`
	}
	if err := json.Unmarshal(step.Answer, &answer); err != nil || answer.Status != "success" || step.Status != 200 {
		t.Fatalf("%s answered %d: %s, %v", step.Call, step.Status, step.Answer, err)
	}
	var has int64
	if answer.Membership.Package != nil {
		has = answer.Membership.Package.ID
	}
	if step.Purchase.State != state || answer.Membership.Status != status || has != packageID {
		t.Errorf("%s in the store, %s of package %d for the app; want %s, %s of %d", step.Purchase.State, answer.Membership.Status, has, state, status, packageID)
	}
	if got := typesOf(step); !slices.Equal(got, events) {
		t.Errorf("events %q, want %q", got, events)
	}
}

func typesOf(step simulator.Step) (list []string) {
	for _, e := range step.Events {
		list = append(list, strings.TrimPrefix(string(e.Type), "membership."))
	}
	return list
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if !fault.HasCode(err, code) {
		t.Errorf("%v, want %q", err, code)
	}
}
