package requestdb

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestItemCallsAreAdded(t *testing.T) {
	calls := func(pairs ...int64) (c ItemCalls) {
		for i := 0; i < len(pairs); i += 2 {
			c.Items, c.Calls = append(c.Items, pairs[i]), append(c.Calls, pairs[i+1])
		}
		return c
	}
	for name, c := range map[string]struct{ a, b, want ItemCalls }{
		"nothing":          {ItemCalls{}, ItemCalls{}, ItemCalls{}},
		"to nothing":       {ItemCalls{}, calls(0, 7, 5, 1), calls(0, 7, 5, 1)},
		"of the same item": {calls(3, 1, 9, 2), calls(3, 10), calls(3, 11, 9, 2)},
		"between others":   {calls(1, 1, 9, 2), calls(0, 5, 4, 4, 10, 3), calls(0, 5, 1, 1, 4, 4, 9, 2, 10, 3)},
	} {
		for _, got := range []ItemCalls{c.a.Add(c.b), c.b.Add(c.a)} {
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
	if diff := cmp.Diff(calls(5, 1), calls(3, 2, 5, 1).Of(5)); diff != "" {
		t.Error(diff)
	}
	if got := calls(3, 2).Of(4); len(got.Items) != 0 {
		t.Errorf("calls of another item: %v", got)
	}
}

func TestSumsAreGroupedByResultAndItem(t *testing.T) {
	got := GroupItemCalls([]Sum{{9, "", 1}, {2, "", 5}, {9, "key_scope", 4}, {9, "", 2}})
	want := map[string]ItemCalls{"": {[]int64{2, 9}, []int64{5, 3}}, "key_scope": {[]int64{9}, []int64{4}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(ItemCalls{[]int64{0, 1, 1_000_001, math.MaxInt64}, []int64{1, 2, math.MaxInt64, 0}}.Pack())
	f.Add([]byte{})
	f.Add([]byte{0x80})
	f.Add([]byte{1, 1, 0, 1})
	f.Fuzz(func(t *testing.T, packed []byte) {
		c, err := Unpack(packed)
		if err != nil {
			return
		}
		for i, item := range c.Items {
			if item < 0 || c.Calls[i] < 0 || i > 0 && item <= c.Items[i-1] {
				t.Fatalf("%v of %x", c, packed)
			}
		}
		again, err := Unpack(c.Pack())
		if diff := cmp.Diff(c, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("%v %s", err, diff)
		}
	})
}
