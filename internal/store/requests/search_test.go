package requests

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/requestid"
	"github.com/google/go-cmp/cmp"
)

func TestCallsAreFilteredAndPaged(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		var all []requestid.Number // newest first
		var match = map[string][]requestid.Number{}
		for i := range 60 {
			id := f.put(func(e *Entry) {
				e.Workspace, e.Key, e.Item = int64(1+i%2), int64(1+i%3), int64(1+i%4)
				if i%5 == 0 {
					e.Status, e.Reason = 404, "purchase_not_found"
				}
				if i%6 == 0 {
					e.Endpoint = "/api/items/item"
				}
				e.Purchase = int64(i%8 + 1)
				e.Addr = netip.AddrFrom4([4]byte{192, 0, 2, byte(i % 7)})
			})
			all = append([]requestid.Number{id}, all...)
			for name, is := range map[string]bool{
				"workspace": i%2 == 1, "key": i%3 == 2, "item": i%4 == 3, "failed": i%5 == 0, "valid": i%5 != 0, "endpoint": i%6 == 0,
				"address": i%7 == 6, "purchase": i%8 == 0, "all of them": i%2 == 0 && i%3 == 0 && i%5 == 0, "second day": i >= 30, "first day": i < 30, "nothing": false,
			} {
				if is {
					match[name] = append([]requestid.Number{id}, match[name]...)
				}
			}
			f.clock.Move(time.Minute)
			if i == 29 {
				f.clock.Move(24 * time.Hour)
			}
			if i%10 == 3 {
				f.flushed(t)
			}
		}
		f.flushed(t)
		second := noon.Add(24 * time.Hour)
		tests := map[string]Filter{
			"workspace": {Workspace: 2}, "key": {Key: 3}, "item": {Item: 4}, "purchase": {Purchase: 1}, "failed": {Result: Failed}, "valid": {Result: Valid},
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

// Each block has a call with the item and one with the key, and few have one with both.
func TestASearchThatFindsLittleStopsAndGoesOn(t *testing.T) {
	engines(t, Keep{For: time.Hour, Calls: 3 * partsOfAll}, func(t *testing.T, f *fixture) {
		f.options.Keep.Calls = 1000
		var rare []requestid.Number
		for i := range 2*maxDecoded + 50 {
			f.put(func(e *Entry) { e.Item = 7 })
			f.put(func(e *Entry) { e.Key = 9 })
			id := f.put(func(e *Entry) {
				if i%90 == 1 {
					e.Item, e.Key = 7, 9
				}
			})
			if i%90 == 1 {
				rare = append([]requestid.Number{id}, rare...)
			}
		}
		f.flushed(t)
		for _, after := range []requestid.Number{0, 1} {
			filter, pages := Filter{Item: 7, Key: 9, After: after}, 0
			var ids []requestid.Number
			for next := requestid.Number(1); next != 0; pages++ {
				page, err := f.Calls(t.Context(), operator, filter)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range page.Calls {
					ids = append(ids, c.ID)
				}
				if next = page.Next; after != 0 {
					filter.After = next
				} else {
					filter.Before = next
				}
			}
			if after != 0 {
				slices.Reverse(ids)
			}
			if diff := cmp.Diff(rare, ids); diff != "" || pages != 3 {
				t.Errorf("%d pages, %s", pages, diff)
			}
		}
	})
}

// Slow calls are written late, and with calls that began after them.
func TestCallsOfBlocksThatOverlapAreInTheirOrder(t *testing.T) {
	engines(t, Keep{For: time.Hour, Calls: 1000}, func(t *testing.T, f *fixture) {
		var all []requestid.Number
		for i := range 40 {
			f.clock.Move(time.Second)
			begun := f.clock.Now()
			all = append(all, f.put(nil), f.put(func(e *Entry) {
				e.Number = requestid.First(begun.Add(-time.Duration(i%7)*1500*time.Millisecond)) | 1<<20
			}))
			f.flushed(t)
		}
		check := func() {
			t.Helper()
			slices.Sort(all)
			for _, limit := range []int{1, 3, 50} {
				if diff := cmp.Diff(all, f.ids(t, Filter{After: 1, Limit: limit})); diff != "" {
					t.Errorf("%d a page, the oldest first: %s", limit, diff)
				}
				got := f.ids(t, Filter{Limit: limit})
				slices.Reverse(got)
				if diff := cmp.Diff(all, got); diff != "" {
					t.Errorf("%d a page: %s", limit, diff)
				}
			}
		}
		check()
		f.small = smallBlocks
		f.flushed(t)
		if blocks := f.blocks(t); blocks > 3 {
			t.Errorf("%d blocks after they were merged", blocks)
		}
		check()
	})
}
