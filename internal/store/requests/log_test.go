package requests

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/google/go-cmp/cmp"
)

var (
	noon     = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	operator = people.Operator("tester")
	discard  = slog.New(slog.DiscardHandler)
)

// fixture is a log that a test flushes by hand.
type fixture struct {
	*Log
	clock *dbtest.Clock
	place dbtest.DB
	last  int64
}

func engines(t *testing.T, keep Keep, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, db dbtest.DB) { fn(t, newFixture(t, db, keep)) })
}

func newFixture(t *testing.T, db dbtest.DB, keep Keep) *fixture {
	t.Helper()
	f := &fixture{clock: dbtest.NewClock(noon), place: db}
	f.Log = New(Options{See: operatorOnly, Dir: db.Dir, URL: db.URL, Keep: keep, Now: f.clock.Now, Log: discard, Longer: time.Hour})
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// put leaves a call of now, which change has changed, and returns its id.
func (f *fixture) put(change func(*Entry)) requestid.Number {
	f.last++
	e := Entry{
		Number: requestid.First(f.clock.Now()) + requestid.Number(f.last), Workspace: 1, Key: 2, Item: 3, Purchase: 4,
		Endpoint: "/api/purchases/validation", Method: "POST", Status: 200, Took: 1500 * time.Microsecond,
		Addr: netip.MustParseAddr("192.0.2.7"), Agent: "curl/8",
	}
	e.Sent.Add(InHeader, "api_key", "csk_secret")
	e.Sent.Add(InBody, "purchase_code", "7c0f3b1e-5d2a-4c44-9b1e-000000000001")
	if change != nil {
		change(&e)
	}
	f.Put(&e)
	return e.Number
}

// flushed writes what waits.
func (f *fixture) flushed(t *testing.T) {
	t.Helper()
	f.flush(t.Context())
	if failure := f.Failing(); failure != nil {
		t.Fatal(failure.Err)
	}
}

// ids lists what a filter finds, page by page, in the order of the pages.
func (f *fixture) ids(t *testing.T, filter Filter) (ids []requestid.Number) {
	t.Helper()
	for {
		page, err := f.Calls(t.Context(), operator, filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Calls {
			ids = append(ids, c.ID)
		}
		if page.Next == 0 {
			return ids
		}
		if filter.After != 0 {
			filter.After = page.Next
		} else {
			filter.Before = page.Next
		}
	}
}

func TestCodesInAgentsAreMasked(t *testing.T) {
	for agent, want := range map[string]string{
		"curl/8.11.1": "curl/8.11.1", "": "",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/143.0.7499.109": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/143.0.7499.109",
		"ElectronicSoftwareDistribution/2 7c0f3b1e-5d2a-4c44-9b1e-00000000abcd":                                "ElectronicSoftwareDistribution/2 7c0f…cd",
		"shop/7c0f3b1e5d2a4c449b1e00000000abcd (a 0123456789abcdef)":                                           "shop/7c0f…cd (a 0123…ef)",
		"abcdefghijklmnopqrstuvwxyzabcdefghijk":                                                                "abcd…jk",
		"shop/1 csk_0123":                                                                                      "shop/1 csk_…",
	} {
		if got := cleanAgent(agent); got != want {
			t.Errorf("%q: %q, want %q", agent, got, want)
		}
	}
}

func TestACallIsFoundByItsID(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		id := f.put(func(e *Entry) { e.Status, e.Reason, e.Agent = 404, "purchase_refunded", "curl/8 \x00\xff\n csk_0123" })
		f.put(func(e *Entry) { e.Addr = netip.Addr{} })
		f.flushed(t)
		got, err := f.Call(t.Context(), operator, 1, id.String())
		want := Call{
			ID: id, Workspace: 1, Key: 2, Item: 3, Purchase: 4, Endpoint: "/api/purchases/validation", Method: "POST", Status: 404, Reason: "purchase_refunded",
			Took: 1500 * time.Microsecond, Address: "192.0.2.7", Agent: "curl/8  csk_…",
			Sent: []Param{{InHeader, "api_key", ""}, {InBody, "purchase_code", "7c0f…01"}},
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
		if got.Result() != Failed || !got.Time().Equal(noon) {
			t.Errorf("result %s at %s", got.Result(), got.Time())
		}
		for _, unknown := range []struct {
			workspace int64
			id        string
		}{{2, id.String()}, {0, "0000000000000001"}, {0, (id + 99).String()}, {0, "nonsense"}, {0, ""}} {
			if _, err := f.Call(t.Context(), operator, unknown.workspace, unknown.id); !fault.HasCode(err, "request_not_found") {
				t.Errorf("%v: %v", unknown, err)
			}
		}
	})
}

func TestALogThatWasNeverWrittenIsEmpty(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		if ids := f.ids(t, Filter{}); ids != nil {
			t.Error(ids)
		}
		if _, err := f.Call(t.Context(), operator, 0, "0000000000000001"); !fault.HasCode(err, "request_not_found") {
			t.Error(err)
		}
		if s, err := f.State(t.Context(), operator, 0); err != nil || s.Calls != 0 || !s.On {
			t.Error(s, err)
		}
		if _, err := os.Stat(filepath.Join(f.place.Dir, DatabaseName)); !os.IsNotExist(err) {
			t.Errorf("reading made a file: %v", err)
		}
	})
}

func TestOnlyTheOperatorReadsTheLog(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		id := f.put(nil)
		f.flushed(t)
		for _, a := range []people.Actor{{}, {Kind: people.KindKey, Workspace: 1, Secret: true}, {Kind: people.KindBuyer}} {
			_, errCalls := f.Calls(t.Context(), a, Filter{})
			_, errCall := f.Call(t.Context(), a, 0, id.String())
			_, errState := f.State(t.Context(), a, 0)
			_, errCounts := f.Counts(t.Context(), a, CountQuery{})
			for _, err := range []error{errCalls, errCall, errState, errCounts} {
				if !fault.HasCode(err, "key_scope") {
					t.Errorf("%v: %v", a, err)
				}
			}
		}
	})
}

func TestATailReturnsEachCallOnce(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		f.put(nil)
		shown := f.put(nil)
		f.flushed(t)
		page, err := f.Calls(t.Context(), operator, Filter{Limit: 1})
		if err != nil || page.Calls[0].ID != shown {
			t.Fatal(page, err)
		}
		tail := f.Tail(Filter{Workspace: 1}, page.Calls)
		next := func(want ...requestid.Number) {
			t.Helper()
			calls, _, err := tail.Next(t.Context(), operator, 0)
			var got []requestid.Number
			for _, c := range calls {
				got = append(got, c.ID)
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		}
		next()
		f.clock.Move(time.Second)
		slow := f.clock.Now()
		f.clock.Move(time.Second)
		first := f.put(nil)
		f.put(func(e *Entry) { e.Workspace = 2 })
		f.flushed(t)
		next(first)
		late := f.put(func(e *Entry) { e.Number = requestid.First(slow) }) // it took two seconds
		f.flushed(t)
		next(late)
		next()
	})
}

func TestAWatchReturnsTheNewestCallsOnce(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		before := f.put(nil)
		f.flushed(t)
		f.clock.Move(time.Second)
		watch, again := f.Watch(Filter{Workspace: 1}, 0), f.Watch(Filter{Workspace: 1}, before)
		latest := func(tail *Tail, more bool, want ...requestid.Number) {
			t.Helper()
			calls, others, err := tail.Next(t.Context(), operator, Watched)
			var got []requestid.Number
			for _, c := range calls {
				got = append(got, c.ID)
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" || others != more {
				t.Error(err, others, diff)
			}
		}
		latest(watch, false)
		latest(again, false, before) // it was the last of the connection before: those around it may be missing there
		first := f.put(nil)
		f.put(func(e *Entry) { e.Workspace = 2 })
		f.flushed(t)
		latest(watch, false, first)
		f.clock.Move(time.Second)
		var many []requestid.Number
		for range Watched + 1 {
			many = append(many, f.put(nil))
		}
		f.flushed(t)
		slices.Reverse(many)
		latest(watch, true, many[:Watched]...)
		latest(watch, false)
		f.clock.Move(2 * watchBack)
		latest(f.Watch(Filter{Workspace: 1}, before), false) // too long ago
	})
}

// operatorOnly lets nobody else see the log.
func operatorOnly(_ context.Context, a people.Actor, _ int64) error {
	return access.May(a, access.Administer)
}
