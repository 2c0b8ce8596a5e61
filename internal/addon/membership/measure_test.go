package membership

import (
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
)

// figures prints the figures, with the alerts that are open.
func (f *fixture) figures(t *testing.T) string {
	t.Helper()
	m, err := f.Measure(t.Context())
	if err != nil || len(m.Alerts) != len(alertKinds) {
		t.Fatalf("%+v, %v", m, err)
	}
	text := fmt.Sprintf("%d for %s", m.Unacknowledged, m.UnacknowledgedFor)
	for _, a := range m.Alerts {
		if a.Count > 0 {
			text += fmt.Sprintf(", %d %s", a.Count, a.Kind)
		}
	}
	return text
}

func TestFiguresCountPurchasesThatWaitForTheirAcknowledgement(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		want := func(when, want string) {
			t.Helper()
			expect.Equalf(t, f.figures(t), want, "%s", when)
		}
		want("none", "0 for 0s")
		f.refuse(unavailable)
		f.bought(t, "ana", "token", "gold_monthly")
		want("a purchase that the store does not acknowledge", "1 for 0s")
		f.clock.Move(25 * time.Hour)
		f.run(t)
		want("after a day", "1 for 25h0m0s, 1 unacknowledged_purchase")
		f.refuse(nil)
		f.clock.Move(24 * time.Hour)
		f.run(t)
		want("acknowledged", "0 for 0s")
	})
}

// refuse has the store answer acknowledgements with an error, nil for none.
func (f *fixture) refuse(err error) {
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	f.store.refusing = err
}
