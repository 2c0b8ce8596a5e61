package requests

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/requestdb"
	"github.com/countersign/countersign/internal/web"
	"github.com/google/go-cmp/cmp"
)

var (
	noon     = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	operator = people.Operator("tester")
	discard  = slog.New(slog.DiscardHandler)
)

// clock is a clock that stands still.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// fixture is a log that a test flushes by hand.
type fixture struct {
	*Log
	clock clock
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
	f := &fixture{clock: clock{at: noon}, place: db}
	f.Log = New(Options{See: operatorOnly, Dir: db.Dir, URL: db.URL, Keep: keep, Now: f.clock.now, Log: discard})
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// put leaves a call of now, which change has changed, and returns its id.
func (f *fixture) put(change func(*Entry)) web.RequestNumber {
	f.last++
	e := Entry{
		Number: web.FirstRequestNumber(f.clock.now()) + web.RequestNumber(f.last), Workspace: 1, Key: 2, Item: 3, Purchase: 4,
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
func (f *fixture) ids(t *testing.T, filter Filter) (ids []web.RequestNumber) {
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

func TestCallsAreFilteredAndPaged(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		var all []web.RequestNumber // newest first
		var match = map[string][]web.RequestNumber{}
		for i := range 60 {
			id := f.put(func(e *Entry) {
				e.Workspace, e.Key, e.Item = int64(1+i%2), int64(1+i%3), int64(1+i%4)
				if i%5 == 0 {
					e.Status, e.Reason = 404, "purchase_not_found"
				}
				if i%6 == 0 {
					e.Endpoint = "/api/items/item"
				}
				e.Addr = netip.AddrFrom4([4]byte{192, 0, 2, byte(i % 7)})
			})
			all = append([]web.RequestNumber{id}, all...)
			for name, is := range map[string]bool{
				"workspace": i%2 == 1, "key": i%3 == 2, "item": i%4 == 3, "failed": i%5 == 0, "valid": i%5 != 0, "endpoint": i%6 == 0,
				"address": i%7 == 6, "all of them": i%2 == 0 && i%3 == 0 && i%5 == 0, "second day": i >= 30, "first day": i < 30, "nothing": false,
			} {
				if is {
					match[name] = append([]web.RequestNumber{id}, match[name]...)
				}
			}
			f.clock.pass(time.Minute)
			if i == 29 {
				f.clock.pass(24 * time.Hour)
			}
			if i%10 == 3 {
				f.flushed(t)
			}
		}
		f.flushed(t)
		second := noon.Add(24 * time.Hour)
		tests := map[string]Filter{
			"workspace": {Workspace: 2}, "key": {Key: 3}, "item": {Item: 4}, "failed": {Result: Failed}, "valid": {Result: Valid},
			"endpoint": {Endpoint: "/api/items/item"}, "address": {Address: "192.0.2.6"},
			"all of them": {Workspace: 1, Key: 1, Reason: "purchase_not_found", Endpoint: "/api/items/item"},
			"second day":  {From: second}, "first day": {To: second}, "nothing": {Key: 99},
		}
		match["all of them"] = nil
		for i, id := range all {
			if n := len(all) - 1 - i; n%30 == 0 {
				match["all of them"] = append(match["all of them"], id)
			}
		}
		for name, filter := range tests {
			for _, limit := range []int{0, 1, 4} {
				filter.Limit = limit
				if diff := cmp.Diff(match[name], f.ids(t, filter)); diff != "" {
					t.Errorf("%s, %d a page: %s", name, limit, diff)
				}
			}
			filter.After, filter.Limit = 1, 4
			got := f.ids(t, filter)
			for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
				got[i], got[j] = got[j], got[i]
			}
			if diff := cmp.Diff(match[name], got); diff != "" {
				t.Errorf("%s, the oldest first: %s", name, diff)
			}
		}
		if diff := cmp.Diff(all, f.ids(t, Filter{Limit: 7})); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCallsOfAFilterAreCountedUpToAPage(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		for i := range maxLimit + 10 {
			f.put(func(e *Entry) { e.Item = int64(1 + i/10) })
		}
		f.flushed(t)
		for _, c := range []struct {
			filter  Filter
			n       int
			atLeast bool
		}{{Filter{}, maxLimit, true}, {Filter{Item: 2, Before: 1}, 10, false}, {Filter{Item: 999}, 0, false}} {
			if n, atLeast, err := f.Count(t.Context(), operator, c.filter); n != c.n || atLeast != c.atLeast || err != nil {
				t.Errorf("%+v: %d, %t, %v", c.filter, n, atLeast, err)
			}
		}
	})
}

func TestASearchThatFindsLittleStopsAndGoesOn(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		rare := f.put(func(e *Entry) { e.Item = 7 })
		for range 40 {
			f.put(nil)
		}
		f.flushed(t)
		err := f.read(t.Context(), searching(func(s *search) {
			s.left = 10
			if err := s.run(t.Context()); err != nil || len(s.page.Calls) != 0 || s.page.Next != rare+31 {
				t.Errorf("%v, %v", s.page, err)
			}
		}, Filter{Item: 7}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]web.RequestNumber{rare}, f.ids(t, Filter{Item: 7})); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOldPartsAreDropped(t *testing.T) {
	engines(t, Keep{For: 3 * 24 * time.Hour, Calls: 1000}, func(t *testing.T, f *fixture) {
		var ids []web.RequestNumber
		for range 6 {
			ids = append(ids, f.put(nil))
			f.flushed(t)
			f.clock.pass(24 * time.Hour)
		}
		f.clock.pass(time.Minute)
		f.put(nil)
		f.flushed(t)
		if got := f.ids(t, Filter{}); len(got) != 4 || got[3] != ids[3] {
			t.Errorf("%d calls are left, the oldest is %v; want 4 from %v on", len(got), got, ids[3])
		}
		s, err := f.State(t.Context(), operator, 0)
		if err != nil || s.Calls != 4 || !s.Since.Equal(noon.Truncate(24*time.Hour).Add(72*time.Hour)) {
			t.Errorf("%+v, %v", s, err)
		}
		if names := f.tables(t); len(names) != 8 {
			t.Errorf("tables of parts that were dropped are left: %v", names)
		}
		if _, err := f.Call(t.Context(), operator, 0, ids[0].String()); !fault.HasCode(err, "request_not_found") {
			t.Error(err)
		}
	})
}

func TestTheOldestPartsAreDroppedWhenThereAreTooManyCalls(t *testing.T) {
	engines(t, Keep{For: 3 * 24 * time.Hour, Calls: 100}, func(t *testing.T, f *fixture) {
		var ids []web.RequestNumber
		for range 60 {
			for range 5 {
				ids = append(ids, f.put(nil))
			}
			f.flushed(t)
			f.clock.pass(5 * time.Second)
		}
		got := f.ids(t, Filter{Workspace: 1})
		if len(got) > 100 || len(got) < 80 || got[0] != ids[len(ids)-1] {
			t.Errorf("%d calls are left, want between 80 and 100 with the newest", len(got))
		}
		for _, id := range got {
			if _, err := f.Call(t.Context(), operator, 0, id.String()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAFullBufferDropsAndCounts(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		f.flushed(t)
		for range room {
			f.put(nil)
		}
		f.clock.pass(time.Second)
		f.put(nil)
		f.clock.pass(3 * time.Second)
		f.put(nil)
		f.flushed(t)
		f.clock.pass(30 * time.Second)
		want := []Gap{{noon.Add(time.Second), noon.Add(4 * time.Second), 2}}
		s, err := f.State(t.Context(), operator, 0)
		if diff := cmp.Diff(want, s.Gaps); err != nil || diff != "" || s.Dropped != 2 || s.Written != room || s.Calls != room {
			t.Errorf("%+v, %v, %s", s, err, diff)
		}
		other := New(Options{See: operatorOnly, Dir: f.place.Dir, URL: f.place.URL, Now: f.clock.now, Log: discard})
		defer other.Close()
		if s, err := other.State(t.Context(), operator, 0); err != nil || cmp.Diff(want, s.Gaps) != "" || s.On {
			t.Errorf("another process: %+v, %v", s, err)
		}
	})
}

func TestGapsThatAreCloseAreOne(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		f.flushed(t)
		drop := func() {
			f.mu.Lock()
			f.gap.add(f.clock.now(), 3)
			f.mu.Unlock()
			f.flushed(t)
		}
		drop()
		f.clock.pass(30 * time.Second)
		drop()
		f.clock.pass(2 * time.Minute)
		drop()
		s, err := f.State(t.Context(), operator, 0)
		want := []Gap{{noon.Add(150 * time.Second), noon.Add(150 * time.Second), 3}, {noon, noon.Add(30 * time.Second), 6}}
		if diff := cmp.Diff(want, s.Gaps); err != nil || diff != "" {
			t.Error(err, diff)
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
		next := func(want ...web.RequestNumber) {
			t.Helper()
			calls, err := tail.Next(t.Context(), operator)
			var got []web.RequestNumber
			for _, c := range calls {
				got = append(got, c.ID)
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		}
		next()
		f.clock.pass(time.Second)
		slow := f.clock.now()
		f.clock.pass(time.Second)
		first := f.put(nil)
		f.put(func(e *Entry) { e.Workspace = 2 })
		f.flushed(t)
		next(first)
		late := f.put(func(e *Entry) { e.Number = web.FirstRequestNumber(slow) }) // it took two seconds
		f.flushed(t)
		next(late)
		next()
	})
}

func TestSecretsAreMasked(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"api_key", "csk_kJWlMUlhPuQRgklfTvP786Ub3uiUaSkdgROo4vrIFJr4MhmJy", ""},
		{"purchase_code", "7c0f3b1e-5d2a-4c44-9b1e-000000000001", "7c0f…01"},
		{"purchase_code", "short-code", "…"},
		{"purchase_code", "code with some spaces", "…"},
		{"purchase_code", " 7c0f3b1e-5d2a-4c44-9b1e-000000000001\n", "7c0f…01"},
		{"purchase_code", "", ""},
		{"item_id", "1001", "1001"},
		{"item_id", "1234567890123", "…"},
		{"item_id", "12a", "…"},
		{"domain", "shop.example", "…"},
		{"domain", "a-long-name.shop.example", "a-lo…le"},
		{"license_id", "ééééééééééééééééééé", "…"},
	} {
		var s Sent
		s.Add(InQuery, tt.name, tt.value)
		if diff := cmp.Diff([]Param{{InQuery, tt.name, tt.want}}, ParseSent(s.String())); diff != "" {
			t.Errorf("%s %q: %s", tt.name, tt.value, diff)
		}
	}
}

func TestParametersWithoutRoomAreLeftOut(t *testing.T) {
	var s Sent
	for i := range 20 {
		s.Add(InBody, fmt.Sprintf("param_%02d", i), "7c0f3b1e-5d2a-4c44-9b1e-000000000001")
	}
	list := ParseSent(s.String())
	if len(list) != 6 || list[5].Value != "7c0f…01" {
		t.Errorf("%q", s.String())
	}
}

func FuzzParseSent(f *testing.F) {
	f.Add("7c0f3b1e-5d2a-4c44-9b1e-000000000001", "hapi_key\nbpurchase_code=7c0f…01\n")
	f.Add("12", "\n\n=\nq\nb=")
	f.Fuzz(func(t *testing.T, value, text string) {
		ParseSent(text)
		for _, name := range []string{paramKey, "purchase_code", paramItem, "domain"} {
			var s Sent
			s.Add(InBody, name, value)
			list := ParseSent(s.String())
			if len(list) != 1 || list[0].Name != name || list[0].Place != InBody || len(list[0].Value) > maskBytes || name == paramKey && list[0].Value != "" {
				t.Errorf("%s %q is kept as %q", name, value, s.String())
			}
		}
	})
}

func TestEveryReasonHasASentence(t *testing.T) {
	for reason, text := range why {
		if text == "" || Why(reason) != text {
			t.Errorf("%q: %q", reason, text)
		}
	}
	if got := Why("brand_new"); got != "The call failed with the error code brand_new." {
		t.Error(got)
	}
}

func TestCallsAreCounted(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		for i := range 60 { // from noon on, four hours apart: ten days
			f.put(func(e *Entry) {
				e.Item, e.Key = int64(1+i%2), int64(1+i%3)
				if i%4 == 0 {
					e.Reason = "purchase_not_found"
				}
			})
			f.put(func(e *Entry) { e.Workspace = 2 })
			f.clock.pass(4 * time.Hour)
			f.flushed(t)
		}
		counts := func(q CountQuery) []Count {
			t.Helper()
			q.Workspace = 1
			list, err := f.Counts(t.Context(), operator, q)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		end := f.clock.now()
		day := noon.Truncate(24 * time.Hour)
		for name, c := range map[string]struct {
			q    CountQuery
			want []Count
		}{
			"by item":   {CountQuery{From: noon, To: end, By: ByItem}, []Count{{ID: 1, Valid: 15, Failed: 15}, {ID: 2, Valid: 30}}},
			"by key":    {CountQuery{From: noon, To: end, By: ByKey}, []Count{{ID: 1, Valid: 15, Failed: 5}, {ID: 2, Valid: 15, Failed: 5}, {ID: 3, Valid: 15, Failed: 5}}},
			"by result": {CountQuery{From: noon, To: end, By: ByResult}, []Count{{Valid: 45}, {Reason: "purchase_not_found", Failed: 15}}},
			"by hour":   {CountQuery{From: noon, To: noon.Add(5 * time.Hour), By: ByHour}, []Count{{At: noon, Failed: 1}, {At: noon.Add(4 * time.Hour), Valid: 1}}},
			"by day, from the middle of one to the middle of another": {CountQuery{From: noon.Add(2 * time.Hour), To: day.Add(50 * time.Hour), By: ByDay}, []Count{
				{At: day, Valid: 2}, {At: day.Add(24 * time.Hour), Valid: 4, Failed: 2}, {At: day.Add(48 * time.Hour), Valid: 1},
			}},
			"nothing": {CountQuery{From: end, To: end.Add(time.Hour), By: ByItem}, []Count{}},
		} {
			if diff := cmp.Diff(c.want, counts(c.q)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		if done, err := f.db.DaysDone(t.Context()); err != nil || done < hourOf(end)/24-2 {
			t.Errorf("days are summed up to %d, %v", done, err)
		}
		f.clock.pass(40 * 24 * time.Hour)
		f.put(nil)
		f.flushed(t)
		if diff := cmp.Diff([]Count{{ID: 1, Valid: 15, Failed: 15}, {ID: 2, Valid: 30}}, counts(CountQuery{From: day, To: f.clock.now().Truncate(24 * time.Hour), By: ByItem})); diff != "" {
			t.Errorf("after the hours were deleted: %s", diff)
		}
		if sums, err := f.db.SumHours(t.Context(), 1, 0, hourOf(end), requestdb.ByNone); err != nil || len(sums) != 0 {
			t.Errorf("hours are left: %v, %v", sums, err)
		}
	})
}

// operatorOnly lets nobody else see the log.
func operatorOnly(_ context.Context, a people.Actor, _ int64) error {
	return access.May(a, access.Administer)
}
