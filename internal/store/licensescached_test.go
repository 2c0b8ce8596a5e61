package store

import (
	"testing"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

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
		if _, err := other.EndPurchase(t.Context(), operator, "one", StateRefunded); err != nil {
			t.Fatal(err)
		}
		hear(storedb.TopicLicenses)
		if got := f.revoked(t); len(got) != 1 || got[0] != l.License.ID {
			t.Errorf("revoked: %v", got)
		}
		if _, err := other.Licensing.RotateKey(t.Context(), operator, false); err != nil {
			t.Fatal(err)
		}
		hear(storedb.TopicLicenseKeys)
		if f.keySet(t).Len() != 2 {
			t.Errorf("%d keys", f.keySet(t).Len())
		}
	})
}
