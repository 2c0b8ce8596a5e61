package requests

import (
	"net/netip"
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
		if diff := cmp.Diff([]requestid.Number{rare}, f.ids(t, Filter{Item: 7})); diff != "" {
			t.Error(diff)
		}
	})
}
