package store

import (
	"context"
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

func TestMemoKeepsWhatItCanTrust(t *testing.T) {
	m := &memo[int]{topics: []string{"mine"}}
	w := m.watcher()
	reads := 0
	during := func() {}
	get := func() int {
		t.Helper()
		v, err := m.get(t.Context(), func(context.Context) (*int, error) {
			reads++
			n := reads
			during()
			return &n, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return *v
	}
	want := func(what string, n int) {
		t.Helper()
		if got := get(); got != n {
			t.Errorf("%s: read %d, want %d", what, got, n)
		}
	}
	want("nothing is kept before changes by others arrive", 1)
	want("nothing is kept before changes by others arrive", 2)
	w.Live()
	want("what was read before is not kept", 3)
	want("it is kept", 3)
	w.Changed("another", "")
	want("a change of something else leaves it", 3)
	w.Changed("mine", "")
	want("a change drops it", 4)
	w.Lost()
	want("nothing is kept while the feed is lost", 5)
	want("nothing is kept while the feed is lost", 6)
	w.Live()
	during = func() { w.Changed("mine", "") }
	want("read across a change", 7)
	during = func() {}
	want("what was read across a change is not kept", 8)
	want("it is kept again", 8)
	w.Changed("mine", "")
	broken := errors.New("broken")
	if _, err := m.get(t.Context(), func(context.Context) (*int, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	want("an error is not kept", 9)
}

// What another process changes is served: the list by its refund, the key set by
// its rotation.
func TestLicensesInMemoryFollowOtherProcesses(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		l := f.issue(t, "one", "shop.example")
		heard := make(chan string, 100)
		f.database.Watch(sqldb.Watcher{Changed: func(topic, _ string) { heard <- topic }, Lost: func() {}, Live: func() {}})
		f.run(t)
		hear := func(topic string) {
			for await(t, heard) != topic {
			}
		}
		if len(f.revoked(t)) != 0 || f.keySet(t).Len() != 1 {
			t.Error("not what is expected at the start")
		}
		other := f.again(t)
		if _, err := other.RefundPurchase(t.Context(), operator, "one"); err != nil {
			t.Fatal(err)
		}
		hear(storedb.TopicLicenses)
		if got := f.revoked(t); len(got) != 1 || got[0] != l.License.ID {
			t.Errorf("revoked: %v", got)
		}
		if _, err := other.RotateLicenseKey(t.Context(), operator, false); err != nil {
			t.Fatal(err)
		}
		hear(storedb.TopicLicenseKeys)
		if f.keySet(t).Len() != 2 {
			t.Errorf("%d keys", f.keySet(t).Len())
		}
	})
}
