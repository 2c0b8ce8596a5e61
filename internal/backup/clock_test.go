package backup_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

func TestAScheduleIsPlannedAgainAfterAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		s := serve(t, db)
		k := s.store.Instance.Backups
		s.now = noon.AddDate(10, 0, 0)
		s.set(func(to *backup.Settings) { to.Active, to.Every, to.At = true, 24*time.Hour, "03:00" })
		s.now = s.now.AddDate(0, 0, 1)
		s.run(true)
		follow := func() {
			t.Helper()
			must.Do(t, k.FollowClock(t.Context()))
		}
		follow()
		if got := s.schedule(); !got.Next.After(s.now) {
			t.Errorf("planned again by the clock of the plan: %v", got.Next)
		}
		s.now = noon
		if _, known, err := k.LastVerified(t.Context()); known || err != nil {
			t.Errorf("a backup of the future counts as verified (%v)", err)
		}
		follow()
		next := time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC)
		if got := s.schedule(); !got.Next.Equal(next) || !got.SucceededAt.IsZero() {
			t.Errorf("planned for %v, last success %v", got.Next, got.SucceededAt)
		}
		s.run(false)
		s.now = next
		s.run(true)
		if at, known, err := k.LastVerified(t.Context()); !known || err != nil || !at.Equal(next) {
			t.Errorf("last verified %v, %v, %v", at, known, err)
		}
	})
}

func TestClocksOfServersMayDifferByALittle(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	s.set(func(to *backup.Settings) { to.Active, to.Every, to.At = true, 24*time.Hour, "03:00" })
	s.now = time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC)
	s.run(true)
	next := s.schedule().Next
	s.now = s.now.Add(-2 * time.Second) // of another server
	must.Do(t, s.store.Instance.Backups.FollowClock(t.Context()))
	if got := s.schedule(); !got.Next.Equal(next) {
		t.Errorf("planned for %v, before %v", got.Next, next)
	}
}

func TestABackupOfAClockThatWasAheadDoesNotTakeThePlaceOfLaterOnes(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	s.now = noon.AddDate(10, 0, 0)
	s.set(func(to *backup.Settings) { to.Active, to.Every, to.Keep.Count = true, 24*time.Hour, 1 })
	s.run(true)
	ahead := s.schedule().File
	for day := range 3 {
		s.now = noon.AddDate(0, 0, day)
		must.Do(t, s.store.Instance.Backups.FollowClock(t.Context()))
		s.run(true)
		left := s.files(backup.Destination{})
		if len(left) != 2 || left[0].Path != ahead || left[1].Path != s.schedule().File || !left[1].CreatedAt.Equal(s.now) {
			t.Errorf("day %d: files %+v", day, left)
		}
		if at, known, err := s.store.Instance.Backups.LastVerified(t.Context()); !known || err != nil || !at.Equal(s.now) {
			t.Errorf("day %d: last verified %v, %v, %v", day, at, known, err)
		}
	}
}
