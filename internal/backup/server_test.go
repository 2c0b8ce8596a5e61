package backup_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
)

// server is a store with a clock of its own, whose jobs the test runs.
type server struct {
	*testing.T
	store *store.Store
	queue *jobs.Queue
	now   time.Time
}

func serve(t *testing.T, db dbtest.DB) *server {
	t.Helper()
	s := &server{T: t, now: noon}
	o := options(db)
	o.Now = func() time.Time { return s.now }
	var err error
	if s.store, err = store.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.store.Close() })
	must.Do(t, s.store.Prepare(t.Context()))
	s.queue = jobs.New(s.store.Instance.Backups.DB, o.Now, slog.New(slog.DiscardHandler))
	s.store.Instance.Backups.Handle(s.queue)
	s.store.Instance.Backups.Serve()
	return s
}

func (s *server) set(change func(*backup.Settings)) backup.Schedule {
	s.Helper()
	return must.Get(s.store.Instance.Backups.SetSchedule(s.Context(), operator, change))(s)
}

func (s *server) schedule() backup.Schedule {
	s.Helper()
	return must.Get(s.store.Instance.Backups.Schedule(s.Context(), operator))(s)
}

// run runs the job that is due, and fails unless there is one, or none if want is false.
func (s *server) run(want bool) {
	s.Helper()
	if ran, err := s.queue.RunNext(s.Context()); ran != want || err != nil {
		s.Fatalf("ran %v, %v, want %v", ran, err, want)
	}
}

func (s *server) files(in backup.Destination) []backup.File {
	s.Helper()
	return must.Get(s.store.Instance.Backups.Service.List(s.Context(), in))(s)
}

func on(every time.Duration) func(*backup.Settings) {
	return func(s *backup.Settings) { s.Active, s.Every = true, every }
}
