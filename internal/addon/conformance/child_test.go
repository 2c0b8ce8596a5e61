package conformance

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
)

// The steps of a process that is killed, and what it finds in its environment.
const (
	stepVerify = "verify"
	stepUpdate = "update"

	envPlay  = "COUNTERSIGN_TEST_PLAY"
	envToken = "COUNTERSIGN_TEST_TOKEN"
	envClock = "COUNTERSIGN_TEST_CLOCK"
)

// beKilled is what such a process does.
func beKilled(step string, place dbtest.DB) error {
	ctx := context.Background()
	if point, found := strings.CutPrefix(step, stepUpdate+" "); found {
		stopAt, err := strconv.Atoi(point)
		if err != nil {
			return err
		}
		return updateUntil(ctx, place, stopAt)
	}
	now, err := time.Parse(time.RFC3339, os.Getenv(envClock))
	if err != nil {
		return err
	}
	a, err := openAddon(place, os.Getenv(envPlay), dbtest.NewClock(now))
	if err != nil {
		return err
	}
	if err := a.Prepare(ctx); err != nil {
		return err
	}
	v, err := a.Members.Verify(ctx, "7", os.Getenv(envToken), "")
	return fmt.Errorf("verified: %v, %w", v.Result, err)
}

// updateUntil runs an update, and waits at the point with a number: a question for the time or a step.
func updateUntil(ctx context.Context, place dbtest.DB, stopAt int) error {
	points := 0
	next := func() time.Time {
		if points++; points == stopAt {
			fmt.Println("waiting")
			select {}
		}
		return today
	}
	a, err := addon.Open(ctx, addon.Options{Dir: place.Dir, URL: place.URL, HashCost: people.TestCost, Now: next})
	if err != nil {
		return err
	}
	if _, err := a.Update(ctx, operator, func(addon.Step) { next() }); err != nil {
		return err
	}
	fmt.Println("waiting: done")
	select {}
}
