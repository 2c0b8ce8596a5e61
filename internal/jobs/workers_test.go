package jobs

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// run runs a queue until the test, or what the returned function ends.
func run(t *testing.T, q *Queue) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Run(ctx)
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

// addTo writes a job of a kind.
func (f *fixture) addTo(t *testing.T, kind string) {
	t.Helper()
	must.Do(t, f.db.Tx(t.Context(), func(tx sqldb.Queries) error {
		_, err := Add(t.Context(), tx, kind, 0, nil, f.Now())
		return err
	}))
}

func TestAKindHasAsManyWorkersAsItSaysAndHindersNoOther(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		began, release := make(chan string), make(chan struct{})
		blocks := func(_ context.Context, r *Run) (any, error) {
			began <- r.Kind
			<-release
			return nil, nil
		}
		q := New(f.db, f.Now, slog.New(slog.DiscardHandler))
		q.Handle("many", Kind{Work: blocks, Workers: 3})
		q.Handle("one", Kind{Work: blocks})
		for range 5 {
			f.addTo(t, "many")
		}
		f.addTo(t, "one")
		f.addTo(t, "one")
		rounds := make(chan struct{})
		q.sleep = func(ctx context.Context, _ time.Duration, wake <-chan struct{}) bool {
			select {
			case rounds <- struct{}{}:
			case <-ctx.Done():
			}
			return group.Sleep(ctx, time.Hour, wake)
		}
		run(t, q)
		first := []string{<-began, <-began, <-began, <-began}
		slices.Sort(first)
		if !slices.Equal(first, []string{"many", "many", "many", "one"}) {
			t.Errorf("began %v", first)
		}
		<-rounds
		q.Wake()
		<-rounds // jobs wait, and a round has begun what it may
		if many, one := q.free("many"), q.free("one"); many != 0 || one != 0 {
			t.Errorf("%d and %d workers are free", many, one)
		}
		go func() {
			for range rounds {
			}
		}()
		t.Cleanup(func() { close(release) })
		release <- struct{}{}
		<-began
	})
}

// The jobs of one scope do not keep those of another from the workers.
func TestAScopeHasAsManyWorkersAsItsKindSays(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		began, release := make(chan string), make(chan struct{})
		q := f.queue(nil)
		q.Handle("test", Kind{Workers: 5, PerScope: 2, Work: func(_ context.Context, r *Run) (any, error) {
			began <- r.Key
			<-release
			return nil, nil
		}})
		for _, key := range []string{"slow 1", "slow 2", "slow 3", "slow 4", "slow 5", "slow 6", "slow 7"} {
			f.put(t, Task{Kind: "test", Key: key, Scope: 1, Due: f.Now()})
		}
		f.put(t, Task{Kind: "test", Key: "quick", Scope: 2, Due: f.Now()})
		run(t, q)
		first := []string{<-began, <-began, <-began}
		slices.Sort(first)
		if !slices.Equal(first, []string{"quick", "slow 1", "slow 2"}) {
			t.Errorf("began %v", first)
		}
		if open, err := q.open(t.Context(), "test", 10); err != nil || len(open) != 1 || open[0].scope != 2 {
			t.Errorf("may begin: %+v, %v", open, err)
		}
		rest := make(chan struct{})
		go func() {
			defer close(rest)
			for range 5 {
				<-began
			}
		}()
		close(release)
		<-rest
	})
}

func TestAQueueSleepsUntilTheNextJobIsDue(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		slept := make(chan time.Duration)
		q := f.queue(answer)
		q.sleep = func(ctx context.Context, d time.Duration, _ <-chan struct{}) bool {
			select {
			case slept <- d:
				f.Move(d)
				return true
			case <-ctx.Done():
				return false
			}
		}
		f.put(t, f.task("a", 1, 3*time.Second))
		f.put(t, f.task("b", 1, 7*time.Second))
		run(t, q)
		var got []time.Duration
		for len(got) < 3 {
			if d := <-slept; d > 0 {
				got = append(got, d)
			}
		}
		if want := []time.Duration{3 * time.Second, 4 * time.Second, pollTime}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// other opens the database of f once more, as another process does.
func (f *fixture) other(t *testing.T) *fixture {
	t.Helper()
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: f.place.URL, Path: filepath.Join(f.place.Dir, "jobs.db"), Schemas: []sqldb.Schema{Schema}}))(t)
	t.Cleanup(func() { _ = db.Close() })
	return &fixture{db, f.place, dbtest.NewClock(f.Now())}
}

func TestTwoProcessesRunEachJobOnce(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		const jobs = 60
		var mu sync.Mutex
		runs := map[int64]int{}
		all := make(chan struct{})
		work := func(_ context.Context, r *Run) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			runs[r.ID]++
			if len(runs) == jobs {
				select {
				case <-all:
				default:
					close(all)
				}
			}
			return nil, nil
		}
		for range jobs {
			f.add(t)
		}
		var stops []func()
		for _, process := range []*fixture{f, f.other(t)} {
			q := process.queue(nil)
			q.Handle("test", Kind{Work: work, Workers: 4, Lease: time.Hour})
			stops = append(stops, run(t, q))
		}
		<-all
		for _, stop := range stops {
			stop()
		}
		for ran(t, f.queue(work)) {
			t.Error("a job was left")
		}
		for id, n := range runs {
			if n != 1 {
				t.Errorf("job %d was run %d times", id, n)
			}
		}
	})
}

func TestATaskWakesTheQueuesOfAllProcesses(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		other := f.other(t)
		q := other.queue(answer)
		live := make(chan struct{}, 8)
		other.db.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() {}, Live: func() { live <- struct{}{} }})
		ctx, stop := context.WithCancel(t.Context())
		fed := make(chan struct{})
		go func() {
			defer close(fed)
			other.db.Feed(ctx)
		}()
		t.Cleanup(func() { stop(); <-fed })
		<-live
		<-q.wake // of the feed
		f.put(t, f.task("later", 1, time.Hour))
		f.put(t, f.task("now", 1, 0))
		<-q.wake
		if !ran(t, q) || other.open(t, "now") != "none" {
			t.Error("not run")
		}
	})
}

func TestARunRenewsItsLeaseBeforeItEnds(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		f := open(t, at)
		f.add(t)
		q := f.scheduled(Kind{Lease: 3 * time.Second, Work: func(ctx context.Context, r *Run) (any, error) {
			began := r.RunAt.Time
			f.Move(2 * time.Second)
			for { // until the lease is renewed, which takes a second of the real clock
				j, err := Find(ctx, f.db.Queries(), "test", r.ID)
				if err != nil || j.RunAt.After(began) {
					return nil, err
				}
			}
		}})
		if !ran(t, q) {
			t.Error("not run")
		}
	})
}
