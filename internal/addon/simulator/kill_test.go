package simulator_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// beKilled is a process of its own that upgrades ana's subscription. It stops at the question
// for the time with the number of its step.
func beKilled(step string, place dbtest.DB) error {
	ctx := context.Background()
	f, err := open(ctx, place)
	if err == nil {
		err = f.Prepare(ctx)
	}
	if err != nil {
		return err
	}
	list, _, err := f.Simulator.Purchases(ctx, operator)
	if err == nil {
		f.point, err = dbtest.StopAt(step)
	}
	if err != nil {
		return err
	}
	if _, err := f.Simulator.Buy(ctx, operator, simulator.Order{User: "ana", Product: "gold_monthly", Replaces: list[0].Ref}); err != nil {
		return err
	}
	fmt.Println("waiting: done")
	select {}
}

// A process that is killed during an upgrade leaves the old subscription or the new one, and the
// site is told of one change at most.
func TestAProcessThatIsKilledLeavesTheRestToTheQueue(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.EnginesOf(t.Name()) {
		t.Run(engine, func(t *testing.T) {
			var outcomes [2]int
			const stride = 7 // every point takes too long
			for point, done := 1, false; !done; point += stride {
				at := inTestMode.New(t, engine)
				f := opened(t, at)
				f.buy(t, "ana", "silver_monthly", "")
				done = dbtest.Killed(t, at, strconv.Itoa(point))
				outcomes[wantOneOrTheOther(t, f, point)]++
			}
			if outcomes[0] < 1 || outcomes[1] < 3 {
				t.Errorf("killed %d times before the upgrade was written, and %d times after it", outcomes[0], outcomes[1])
			}
		})
	}
}

// wantOneOrTheOther lets the queue finish, and returns how many upgrades there were.
func wantOneOrTheOther(t *testing.T, f *fixture, point int) int {
	t.Helper()
	list, _, err := f.Simulator.Purchases(t.Context(), operator)
	must.Do(t, err)
	want := []string{"membership.activated", "membership.changed"}[:len(list)]
	f.clock.Move(time.Hour)
	addontest.Run(t, f.Addon)
	f.await(t, "ana", "active", int64(len(list)))
	feed, err := f.Events.List(t.Context(), operator, 0, 0)
	var got []string
	for _, e := range feed.Events {
		got = append(got, string(e.Type))
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("point %d: events %q, want %q; %v", point, got, want, err)
	}
	return len(list) - 1
}
