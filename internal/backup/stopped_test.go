package backup_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

func TestAStoppedRunIsRepeatedAndLeavesNoFile(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		s := serve(t, db)
		s.set(on(time.Hour))
		ctx, stop := context.WithCancel(t.Context())
		s.store.Instance.Backups.Service.Now = func() time.Time { // within the run
			stop()
			return s.now
		}
		_, _ = s.queue.RunNext(ctx) // its error is that of the stop
		s.store.Instance.Backups.Service.Now = func() time.Time { return s.now }
		if got := s.schedule(); !got.SucceededAt.IsZero() || !got.FailedAt.IsZero() || len(s.files(backup.Destination{})) != 0 {
			t.Errorf("after a stop: %+v", got)
		}
		s.run(true)
		if got := s.schedule(); !got.SucceededAt.Equal(noon) {
			t.Errorf("after its repetition: %+v", got)
		}
	})
}

func TestABackupThatWasNotVerifiedIsRemovedByTheNext(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]string{"in a folder": t.TempDir(), "in a bucket": "file://" + filepath.ToSlash(t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, template.New(t, dbtest.SQLite))
			s.set(func(to *backup.Settings) { to.Active, to.Every, to.Out = true, time.Hour, out })
			in := backup.Destination{Folder: out}
			if strings.Contains(out, "://") {
				bucket := must.Get(backup.OpenBucket(out))(t)
				defer bucket.Close()
				in = backup.Destination{Bucket: bucket}
			}
			for range 3 {
				ctx, stop := context.WithCancel(t.Context())
				s.store.Instance.Backups.Service.Reached(func(string) { stop() })
				_, _ = s.queue.RunNext(ctx) // its error is that of the stop
				s.now = s.now.Add(time.Second)
				if left := s.files(in); len(left) != 1 || s.schedule().Unverified != left[0].Path {
					t.Errorf("after a stop: %+v", left)
				}
			}
			s.store.Instance.Backups.Service.Reached(func(string) {})
			s.run(true)
			if left := s.files(in); len(left) != 1 || s.schedule().File != left[0].Path || s.schedule().Unverified != "" {
				t.Errorf("in the end: %+v", left)
			}
		})
	}
}

func TestABackupThatSomebodyVerifiedStays(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	s.set(on(time.Hour))
	ctx, stop := context.WithCancel(t.Context())
	s.store.Instance.Backups.Service.Reached(func(string) { stop() })
	_, _ = s.queue.RunNext(ctx) // its error is that of the stop
	s.store.Instance.Backups.Service.Reached(func(string) {})
	left := s.files(backup.Destination{})
	if len(left) != 1 || s.schedule().Unverified != left[0].Path {
		t.Fatalf("after a stop: %+v", left)
	}
	from := backup.Source{File: left[0].Path}
	info, failed := s.store.Instance.Backups.Service.Verify(t.Context(), from)
	if recorded, err := s.store.Instance.Backups.RecordVerification(t.Context(), operator, from, info, failed); !recorded || err != nil {
		t.Fatalf("recorded %v, %v", recorded, err)
	}
	s.now = noon.Add(time.Minute)
	s.run(true)
	if now := s.files(backup.Destination{}); len(now) != 2 || now[1].Path != left[0].Path {
		t.Errorf("files %+v", now)
	}
}

func TestAPlaceThatIsChangedDuringARunKeepsTheFilesOfBoth(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	before, after := t.TempDir(), t.TempDir()
	to := func(out string) {
		s.set(func(to *backup.Settings) { to.Active, to.Every, to.Out = true, time.Hour, out })
	}
	to(before)
	asked := 0
	s.store.Instance.Backups.Service.Now = func() time.Time {
		if asked++; asked == 3 { // twice for the begin of the run, then for the name of the file
			to(after)
		}
		return s.now
	}
	s.run(true)
	if len(s.files(backup.Destination{Folder: before})) != 1 || s.schedule().Unverified != "" {
		t.Errorf("schedule %+v", s.schedule())
	}
	s.now = noon.Add(2 * time.Hour)
	s.run(true)
	if len(s.files(backup.Destination{Folder: before})) != 1 || len(s.files(backup.Destination{Folder: after})) != 1 {
		t.Errorf("schedule %+v", s.schedule())
	}
}

func TestAVerifiedBackupIsNotRemovedAsOneThatWasNot(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	s.set(on(time.Hour))
	ctx, stop := context.WithCancel(t.Context())
	s.store.Instance.Backups.Verified(func(run context.Context) { stop(); <-run.Done() })
	_, _ = s.queue.RunNext(ctx) // its error is that of the stop
	s.store.Instance.Backups.Verified(nil)
	list, err := s.store.Instance.Backups.Verifications(t.Context(), operator)
	if err != nil || len(list) != 1 || s.schedule().Unverified != "" || !s.schedule().SucceededAt.IsZero() {
		t.Fatalf("after a stop: %+v, %+v, %v", list, s.schedule(), err)
	}
	s.now = noon.Add(time.Minute)
	s.run(true)
	if left := s.files(backup.Destination{}); len(left) != 2 || left[1].Path != list[0].File {
		t.Errorf("files %+v", left)
	}
}
