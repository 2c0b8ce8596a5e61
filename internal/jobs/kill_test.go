package jobs

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
)

// This test binary is also the process that is killed: it begins a job, says so on its
// standard output, and waits.
func TestMain(m *testing.M) {
	if os.Getenv("COUNTERSIGN_TEST_STEP") != "" {
		fmt.Println("failed:", beKilled())
		os.Exit(1)
	}
	dbtest.Crowd()
	os.Exit(m.Run())
}

// beKilled runs a job up to the step that COUNTERSIGN_TEST_STEP names: "begun", or "finished" for
// the time between the end of a transaction with Finish and what follows it.
func beKilled() error {
	ctx := context.Background()
	dir, url := os.Getenv("COUNTERSIGN_TEST_DIR"), os.Getenv("COUNTERSIGN_TEST_URL")
	db, err := sqldb.Open(ctx, sqldb.Options{URL: url, Path: filepath.Join(dir, "jobs.db"), Schemas: []sqldb.Schema{Schema}})
	if err != nil {
		return err
	}
	q := New(db, func() time.Time { return noon }, slog.New(slog.DiscardHandler))
	q.Handle("test", Kind{Lease: 10 * time.Second, Retries: []time.Duration{time.Minute}, Work: func(ctx context.Context, r *Run) (any, error) {
		if os.Getenv("COUNTERSIGN_TEST_STEP") == "finished" {
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

// killed runs a job in a process of its own, which it kills at a step.
func (f *fixture) killed(t *testing.T, step string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "COUNTERSIGN_TEST_STEP="+step, "COUNTERSIGN_TEST_DIR="+f.place.Dir, "COUNTERSIGN_TEST_URL="+f.place.URL)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(output).ReadString('\n'); err != nil || said != "waiting\n" {
		t.Errorf("said %q, %v", said, err)
	}
	_ = cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, output)
	_ = cmd.Wait()
}

func TestAJobWhoseProcessIsKilledIsRunAgain(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		q := f.scheduled(Kind{Work: answer, Lease: 10 * time.Second, Retries: []time.Duration{time.Minute}})
		f.killed(t, "begun")
		f.want(t, id, "running 1  ")
		if ran(t, q) {
			t.Error("run within the lease of the process that was killed")
		}
		if f.pass(10 * time.Second); !ran(t, q) || ran(t, q) {
			t.Error("not run once")
		}
		f.want(t, id, "done 2 42 ")
	})
}

func TestAJobThatWasFinishedBeforeTheKillIsNotRunAgain(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		f.killed(t, "finished")
		if f.pass(time.Hour); ran(t, f.queue(answer)) {
			t.Error("run again")
		}
		f.want(t, id, "done 1 1 ")
	})
}
