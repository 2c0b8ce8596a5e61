package membership

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// beKilled is a process of its own. It receives a notification, processes it, and verifies
// the purchase for the app. It stops at the point with the number of its step: a question
// for the time, a call to the store, a task or an event.
func beKilled(step string, place dbtest.DB) error {
	ctx := context.Background()
	f, err := openFixture(ctx, place)
	if err == nil {
		f.point, err = dbtest.StopAt(step)
	}
	if err != nil {
		return err
	}
	f.store.asked = func(string) { f.point() }
	f.sell("token", sub("gold_monthly", f.accountOf("ana")))
	if _, err := f.Intend(ctx, "ana", nil); err != nil {
		return err
	}
	if err := f.Receive(ctx, notification("m1", 4, "token"), []byte(`{}`)); err != nil {
		return err
	}
	if _, err := f.runTasks(ctx); err != nil {
		return err
	}
	if _, err := f.Verify(ctx, "ana", "token", ""); err != nil {
		return err
	}
	fmt.Println("waiting: done")
	select {}
}

// A process that is killed anywhere between a notification, the answer of the store, the
// commit and the acknowledgement loses nothing, and nothing is granted twice.
func TestAProcessThatIsKilledLosesNothingAndGrantsNothingTwice(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.EnginesOf(t.Name()) {
		t.Run(engine, func(t *testing.T) {
			for point := range dbtest.Steps(engine) {
				if point > 80 {
					t.Fatal("it takes more points than expected")
				}
				at := tables.New(t, engine)
				done := dbtest.Killed(t, at, strconv.Itoa(point))
				wantWhole(t, at, point)
				if done && point < 20 {
					t.Errorf("it has %d points only", point)
				}
				if done {
					break
				}
			}
		})
	}
}

// wantWhole starts another process after a kill.
func wantWhole(t *testing.T, at dbtest.DB, point int) {
	t.Helper()
	f := opened(t, at)
	f.sell("token", sub("gold_monthly", f.accountOf("ana")))
	f.clock.Move(time.Hour)
	must.Do(t, f.Start(t.Context()))
	f.run(t)
	f.receive(t, notification("m1", 4, "token")) // as the store sends it again until it is accepted
	f.mustVerify(t, "ana", "token")
	f.wantMembership(t, "ana", entitle.Active, gold, 1)
	list, _, err := f.Purchases(t.Context(), "ana", "", 0)
	if err != nil || len(list) != 1 || !list[0].Acknowledged {
		t.Errorf("point %d: %+v, %v", point, list, err)
	}
	messages, err := f.Messages(t.Context(), program, 0, 10)
	if err != nil || len(messages) != 1 || messages[0].ProcessedAt.IsZero() {
		t.Errorf("point %d: %+v, %v", point, messages, err)
	}
}
