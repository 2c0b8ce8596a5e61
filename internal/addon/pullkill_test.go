package addon_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
)

// pullAndWait is a process of its own. It pulls, and stops at the point with the number of its step: a question for the
// time.
func pullAndWait(step string, place dbtest.DB) error {
	number, url, _ := strings.Cut(step, " ")
	point, err := dbtest.StopAt(number)
	if err != nil {
		return err
	}
	ctx := context.Background()
	var pulls atomic.Bool
	a, err := addon.Open(ctx, addon.Options{Options: instance.Options{Dir: place.Dir, URL: place.URL, Now: func() time.Time {
		if pulls.Load() {
			point()
		}
		return noon
	}}, PlayURL: url})
	if err != nil {
		return err
	}
	if err := a.Prepare(ctx); err != nil {
		return err
	}
	pulls.Store(true)
	if _, err := a.Members.Pull(ctx, nil); err != nil {
		return err
	}
	fmt.Println("waiting: done")
	select {}
}

// A process that is killed between a pull, the storing and the acknowledgement loses nothing and stores nothing twice.
func TestAKilledPullLosesNothing(t *testing.T) {
	pullEngines(t, func(t *testing.T, p *puller) {
		between := 0
		for point, done := 1, false; !done; point++ {
			if point > 60 {
				t.Fatal("a pull takes more points than expected")
			}
			p.play.SendTest()
			done = dbtest.Killed(t, p.At, strconv.Itoa(point)+" "+p.url)
			list := must.Get(p.Members.Messages(t.Context(), operator, 0, 100))(t)
			if all := p.play.Messages(); len(list) == point && !all[point-1].Acknowledged {
				between++
			}
			p.mustPull(t)
			p.wantMessages(t, point, 0)
		}
		if between == 0 {
			t.Error("never killed between storing and acknowledgement")
		}
	})
}
