package conformance

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/dbtest"
)

// The steps of a process that is killed, and what it finds in its environment.
const (
	stepVerify = "verify"
	stepUpdate = "update"
	stepLoad   = "load"

	envPlay    = "COUNTERSIGN_TEST_PLAY"
	envToken   = "COUNTERSIGN_TEST_TOKEN"
	envClock   = "COUNTERSIGN_TEST_CLOCK"
	envStories = "COUNTERSIGN_TEST_STORIES"
)

// beKilled is what such a process does.
func beKilled(step string, place dbtest.DB) error {
	if point, found := strings.CutPrefix(step, stepUpdate+" "); found {
		return addontest.UpdateUntil(point, place, today)
	}
	ctx := context.Background()
	now, err := time.Parse(time.RFC3339, os.Getenv(envClock))
	if err != nil {
		return err
	}
	if step == stepLoad {
		return beUnderLoad(place, now)
	}
	a, err := openAddon(place, os.Getenv(envPlay), func() time.Time { return now })
	if err != nil {
		return err
	}
	if err := a.Prepare(ctx); err != nil {
		return err
	}
	v, err := a.Members.Verify(ctx, "7", os.Getenv(envToken), "")
	return fmt.Errorf("verified: %v, %w", v.Result, err)
}
