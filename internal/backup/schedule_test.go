package backup_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
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
	if err := s.store.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.queue = jobs.New(s.store.Backups.DB, o.Now, slog.New(slog.DiscardHandler))
	s.store.Backups.Handle(s.queue)
	s.store.Backups.Serve()
	return s
}

func (s *server) set(change func(*backup.Settings)) backup.Schedule {
	s.Helper()
	got, err := s.store.Backups.SetSchedule(s.Context(), operator, change)
	if err != nil {
		s.Fatal(err)
	}
	return got
}

func (s *server) schedule() backup.Schedule {
	s.Helper()
	got, err := s.store.Backups.Schedule(s.Context(), operator)
	if err != nil {
		s.Fatal(err)
	}
	return got
}

// run runs the job that is due, and fails unless there is one, or none if want is false.
func (s *server) run(want bool) {
	s.Helper()
	if ran, err := s.queue.RunNext(s.Context()); ran != want || err != nil {
		s.Fatalf("ran %v, %v, want %v", ran, err, want)
	}
}

func (s *server) files(in backup.Place) []backup.File {
	s.Helper()
	list, err := s.store.Backups.Service.List(s.Context(), in)
	if err != nil {
		s.Fatal(err)
	}
	return list
}

func on(every time.Duration) func(*backup.Settings) {
	return func(s *backup.Settings) { s.Active, s.Every = true, every }
}

func TestScheduledBackupsAreVerifiedRecordedAndPruned(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		s := serve(t, db)
		s.set(func(to *backup.Settings) { to.Active, to.Every, to.Keep.Count = true, 24*time.Hour, 1 })
		s.run(true)
		s.run(false)
		got := s.schedule()
		if !got.SucceededAt.Equal(noon) || !got.Next.Equal(noon.Add(24*time.Hour)) || got.Failure != "" || len(s.files(backup.Place{})) != 1 {
			t.Errorf("after the first run: %+v", got)
		}
		if at, known, err := s.store.Backups.LastVerified(t.Context()); !known || err != nil || !at.Equal(noon) {
			t.Errorf("last verified %v, %v, %v", at, known, err)
		}
		entries, err := s.store.AuditLog().Audit(t.Context(), operator, people.AuditFilter{Actor: "scheduled"})
		if err != nil || len(entries) != 1 || entries[0].Action != backup.ActionCreate || !strings.HasSuffix(entries[0].Detail, "bytes, verified") {
			t.Errorf("entries %+v, %v", entries, err)
		}
		s.now = noon.Add(24 * time.Hour)
		s.run(true)
		if left := s.files(backup.Place{}); len(left) != 1 || !left[0].CreatedAt.Equal(s.now) {
			t.Errorf("files %+v", left)
		}
	})
}

func TestMissedRunsAreMadeUpByOne(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	s.set(func(to *backup.Settings) { to.Active, to.Every, to.At = true, 24*time.Hour, "03:00" })
	first := time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC)
	if got := s.schedule(); !got.Next.Equal(first) {
		t.Errorf("first run at %v", got.Next)
	}
	s.run(false)
	s.now = first.Add(100 * time.Hour)
	s.run(true)
	s.run(false)
	if got := s.schedule(); !got.Next.Equal(first.Add(5 * 24 * time.Hour)) {
		t.Errorf("next run at %v", got.Next)
	}
}

func TestAFailureIsRecordedAndTriedAgain(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		s := serve(t, db)
		blocked := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(blocked, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.set(func(to *backup.Settings) {
			to.Active, to.Every, to.Out = true, 24*time.Hour, filepath.Join(blocked, "backups")
		})
		s.now = noon.Add(700 * time.Millisecond) // jobs are due in whole seconds
		s.run(true)
		got := s.schedule()
		if !got.FailedAt.Equal(noon) || !strings.Contains(got.Failure, blocked) || !got.Next.Equal(noon.Add(5*time.Minute)) || !got.SucceededAt.IsZero() {
			t.Errorf("after a failure: %+v", got)
		}
		if err := os.Remove(blocked); err != nil {
			t.Fatal(err)
		}
		s.now = got.Next
		s.run(true)
		if got := s.schedule(); !got.SucceededAt.Equal(s.now) || !got.Next.Equal(noon.Add(24*time.Hour)) {
			t.Errorf("after its repetition: %+v", got)
		}
	})
}

func TestCommandsAndASwitchedOffScheduleWriteNoBackups(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	s.set(on(time.Hour))
	s.set(func(to *backup.Settings) { to.Active = false })
	s.run(true) // ends without a backup
	s.run(false)
	other, err := store.Open(t.Context(), store.Options{Dir: s.store.Dir(), Now: func() time.Time { return s.now }})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.set(on(time.Hour))
	command := jobs.New(other.Backups.DB, func() time.Time { return s.now }, slog.New(slog.DiscardHandler))
	other.Backups.Handle(command)
	if _, err := command.RunNext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := s.files(backup.Place{}); len(left) != 0 {
		t.Errorf("files %+v", left)
	}
	s.run(true)
	if left := s.files(backup.Place{}); len(left) != 1 {
		t.Errorf("files of the server %+v", left)
	}
}

func TestAStoppedRunIsRepeatedAndLeavesNoFile(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		s := serve(t, db)
		s.set(on(time.Hour))
		ctx, stop := context.WithCancel(t.Context())
		s.store.Backups.Service.Now = func() time.Time { // within the run
			stop()
			return s.now
		}
		_, _ = s.queue.RunNext(ctx) // its error is that of the stop
		s.store.Backups.Service.Now = func() time.Time { return s.now }
		if got := s.schedule(); !got.SucceededAt.IsZero() || !got.FailedAt.IsZero() || len(s.files(backup.Place{})) != 0 {
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
			in := backup.Place{Folder: out}
			if strings.Contains(out, "://") {
				bucket, err := backup.OpenBucket(t.Context(), out)
				if err != nil {
					t.Fatal(err)
				}
				defer bucket.Close()
				in = backup.Place{Bucket: bucket}
			}
			for range 3 {
				ctx, stop := context.WithCancel(t.Context())
				s.store.Backups.Service.Reached(func(string) { stop() })
				_, _ = s.queue.RunNext(ctx) // its error is that of the stop
				s.now = s.now.Add(time.Second)
				if left := s.files(in); len(left) != 1 || s.schedule().Unverified != left[0].Path {
					t.Errorf("after a stop: %+v", left)
				}
			}
			s.store.Backups.Service.Reached(func(string) {})
			s.run(true)
			if left := s.files(in); len(left) != 1 || s.schedule().File != left[0].Path || s.schedule().Unverified != "" {
				t.Errorf("in the end: %+v", left)
			}
		})
	}
}

func TestAScheduleIsPlannedAgainAfterAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		s := serve(t, db)
		k := s.store.Backups
		s.now = noon.AddDate(10, 0, 0)
		s.set(func(to *backup.Settings) { to.Active, to.Every, to.At = true, 24*time.Hour, "03:00" })
		s.now = s.now.AddDate(0, 0, 1)
		s.run(true)
		follow := func() {
			t.Helper()
			if err := k.FollowClock(t.Context()); err != nil {
				t.Fatal(err)
			}
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

func TestABackupOfAClockThatWasAheadDoesNotTakeThePlaceOfLaterOnes(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	s.now = noon.AddDate(10, 0, 0)
	s.set(func(to *backup.Settings) { to.Active, to.Every, to.Keep.Count = true, 24*time.Hour, 1 })
	s.run(true)
	ahead := s.schedule().File
	for day := range 3 {
		s.now = noon.AddDate(0, 0, day)
		if err := s.store.Backups.FollowClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.run(true)
		left := s.files(backup.Place{})
		if len(left) != 2 || left[0].Path != ahead || left[1].Path != s.schedule().File || !left[1].CreatedAt.Equal(s.now) {
			t.Errorf("day %d: files %+v", day, left)
		}
		if at, known, err := s.store.Backups.LastVerified(t.Context()); !known || err != nil || !at.Equal(s.now) {
			t.Errorf("day %d: last verified %v, %v, %v", day, at, known, err)
		}
	}
}

func TestAVerifiedBackupIsNotRemovedAsOneThatWasNot(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	s.set(on(time.Hour))
	ctx, stop := context.WithCancel(t.Context())
	s.store.Backups.Verified(func(run context.Context) { stop(); <-run.Done() })
	_, _ = s.queue.RunNext(ctx) // its error is that of the stop
	s.store.Backups.Verified(nil)
	list, err := s.store.Backups.Verifications(t.Context(), operator)
	if err != nil || len(list) != 1 || s.schedule().Unverified != "" || !s.schedule().SucceededAt.IsZero() {
		t.Fatalf("after a stop: %+v, %+v, %v", list, s.schedule(), err)
	}
	s.now = noon.Add(time.Minute)
	s.run(true)
	if left := s.files(backup.Place{}); len(left) != 2 || left[1].Path != list[0].File {
		t.Errorf("files %+v", left)
	}
}

func TestAPlaceThatCannotBeDecryptedIsAFailure(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	got := s.set(func(to *backup.Settings) { to.Active, to.Out = true, t.TempDir() })
	got.Sealed[0] ^= 1
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.store.Backups.DB.Queries().SetMeta(t.Context(), "backup_schedule", string(text)); err != nil {
		t.Fatal(err)
	}
	s.run(true)
	if got := s.schedule(); !got.FailedAt.Equal(noon) || !strings.Contains(got.Failure, "can't be decrypted") {
		t.Errorf("after a run: %+v", got)
	}
	s.set(func(to *backup.Settings) {
		if to.Out != "" {
			t.Errorf("opened as %q", to.Out)
		}
	})
	s.now = s.schedule().Next
	s.run(true)
	if left := s.files(backup.Place{}); len(left) != 1 {
		t.Errorf("files in the default folder: %+v", left)
	}
}

func TestEncryptedScheduledBackupsAreVerifiedWithoutTheIdentity(t *testing.T) {
	t.Parallel()
	x25519, err1 := age.GenerateX25519Identity()
	hybrid, err2 := age.GenerateHybridIdentity()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for recipient, identity := range map[string]age.Identity{x25519.Recipient().String(): x25519, hybrid.Recipient().String(): hybrid} {
		s := serve(t, template.New(t, dbtest.SQLite))
		bucket := "file://" + filepath.ToSlash(t.TempDir())
		s.set(func(to *backup.Settings) { to.Active, to.Recipients, to.Out = true, []string{recipient}, bucket })
		s.run(true)
		got := s.schedule()
		if got.SucceededAt.IsZero() || !strings.HasSuffix(got.File, ".age") {
			t.Fatalf("%+v", got)
		}
		in, err := backup.OpenBucket(t.Context(), bucket)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if _, err := s.store.Backups.Service.Verify(t.Context(), backup.Source{File: got.File, Bucket: in, Identities: []age.Identity{identity}}); err != nil {
			t.Error(err)
		}
		_, err = s.store.Backups.Service.Verify(t.Context(), backup.Source{File: got.File, Bucket: in})
		wantCode(t, err, countersign.KindInvalid, backup.CodeEncrypted)
	}
}

func TestTheURLOfAScheduleIsSealed(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		s := serve(t, db)
		const url = "s3://bucket?region=eu-central-1&prefix=hush-hush/"
		got := s.set(func(to *backup.Settings) { to.Active, to.Out = true, url })
		if got.Place != "s3://bucket" {
			t.Errorf("place %q", got.Place)
		}
		kept, err := s.store.Backups.DB.Queries().Meta(t.Context(), "backup_schedule")
		entries, err2 := s.store.AuditLog().Audit(t.Context(), operator, people.AuditFilter{Action: "backup.schedule"})
		if err != nil || err2 != nil || len(entries) != 1 || strings.Contains(kept, "hush") || strings.Contains(entries[0].Detail, "hush") {
			t.Errorf("kept %s, entries %+v, %v, %v", kept, entries, err, err2)
		}
		s.set(func(to *backup.Settings) {
			if to.Out != url {
				t.Errorf("opened as %q", to.Out)
			}
		})
		_, err = s.store.Backups.SetSchedule(t.Context(), operator, func(to *backup.Settings) { to.Out = "s3://bucket?region=x&token=hush-hush" })
		wantCode(t, err, countersign.KindInvalid, "backup_url")
		if strings.Contains(err.Error(), "hush") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestALostKeyFileSwitchesTheScheduleOff(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"lost": true, "there": false} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, template.New(t, dbtest.SQLite))
			s.set(func(to *backup.Settings) { to.Active, to.Out = true, t.TempDir() })
			if lost {
				if err := os.Remove(filepath.Join(s.store.Dir(), keyfile.FileName)); err != nil {
					t.Fatal(err)
				}
			}
			plan, err := s.store.Rekey(t.Context(), operator)
			if err != nil || (plan.BackupPlace != "") != lost {
				t.Errorf("place %q, %v", plan.BackupPlace, err)
			}
			if got := s.schedule(); got.Active == lost || (len(got.Sealed) == 0) != lost {
				t.Errorf("%+v", got)
			}
			s.set(func(*backup.Settings) {}) // the new key file opens it
		})
	}
}

func TestOnlyTheOperatorWorksOnBackups(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	k, ctx := s.store.Backups, t.Context()
	for _, a := range []people.Actor{
		{Kind: people.KindUser, User: 1, Administrator: true}, {Kind: people.KindKey, Workspace: 1, Secret: true}, {Kind: people.KindVisitor},
	} {
		_, err1 := k.Create(ctx, a, backup.CreateOptions{})
		_, err2 := k.SetSchedule(ctx, a, on(time.Hour))
		_, err3 := k.Schedule(ctx, a)
		_, err4 := k.Prune(ctx, a, backup.Place{}, backup.Keep{Count: 1})
		_, err5 := k.RecordVerification(ctx, a, backup.Source{}, backup.Info{}, nil)
		_, err6 := k.Verifications(ctx, a)
		for i, err := range []error{err1, err2, err3, err4, err5, err6, k.RecordRestore(ctx, a, backup.Source{}, backup.Restored{})} {
			if err == nil || !isForbidden(err) {
				t.Errorf("%s, call %d: %v", a.Kind, i+1, err)
			}
		}
	}
	if left := s.files(backup.Place{}); len(left) != 0 {
		t.Errorf("files %+v", left)
	}
}
