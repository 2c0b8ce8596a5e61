package addon_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestOldJobsAreDeleted(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		err := f.SQL().Tx(t.Context(), func(tx sqldb.Queries) error {
			if _, err := jobs.Add(t.Context(), tx, "test", 0, nil, f.Clock.Now()); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `UPDATE jobs SET state = 'done', ended_at = $1`, sqldb.Time{Time: f.Clock.Now()})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		left := func() int {
			t.Helper()
			if err := f.PruneJobs(t.Context()); err != nil {
				t.Fatal(err)
			}
			list, err := jobs.List(t.Context(), f.SQL().Queries(), "test")
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		if f.Clock.Move(addon.JobsKept - time.Second); left() != 1 {
			t.Error("deleted too early")
		}
		if f.Clock.Move(time.Second); left() != 0 {
			t.Error("not deleted")
		}
	})
}
