package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
)

// This test binary is also the process that is killed: it begins a job, says so on its
// standard output, and waits.
func TestMain(m *testing.M) { dbtest.Main(m, beKilled) }

// beKilled runs a job up to a step: "begun", or "finished" for the time between the end of a
// transaction with Finish and what follows it.
func beKilled(step string, place dbtest.DB) error {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, sqldb.Options{URL: place.URL, Path: filepath.Join(place.Dir, "jobs.db"), Schemas: []sqldb.Schema{Schema}})
	if err != nil {
		return err
	}
	q := New(db, func() time.Time { return noon }, slog.New(slog.DiscardHandler))
	q.Handle("test", Kind{Lease: 10 * time.Second, Retries: []time.Duration{time.Minute}, Work: func(ctx context.Context, r *Run) (any, error) {
		if step == "finished" {
			if err := db.Tx(ctx, func(tx sqldb.Queries) error { return r.Finish(ctx, tx, 1) }); err != nil {
				return nil, err
			}
		}
		fmt.Println("waiting")
		select {}
	}})
	_, err = q.RunNext(ctx)
	return err
}

func TestAJobWhoseProcessIsKilledIsRunAgain(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		q := f.scheduled(Kind{Work: answer, Lease: 10 * time.Second, Retries: []time.Duration{time.Minute}})
		dbtest.Killed(t, f.place, "begun")
		f.want(t, id, "running 1  ")
		if ran(t, q) {
			t.Error("run within the lease of the process that was killed")
		}
		if f.Move(10 * time.Second); !ran(t, q) || ran(t, q) {
			t.Error("not run once")
		}
		f.want(t, id, "done 2 42 ")
	})
}

func TestAJobThatWasFinishedBeforeTheKillIsNotRunAgain(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		dbtest.Killed(t, f.place, "finished")
		if f.Move(time.Hour); ran(t, f.queue(answer)) {
			t.Error("run again")
		}
		f.want(t, id, "done 1 1 ")
	})
}
