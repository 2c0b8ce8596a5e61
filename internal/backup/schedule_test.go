package backup_test

import (
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
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
)

func TestScheduledBackupsAreVerifiedRecordedAndPruned(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		s := serve(t, db)
		s.set(func(to *backup.Settings) { to.Active, to.Every, to.Keep.Count = true, 24*time.Hour, 1 })
		s.run(true)
		s.run(false)
		got := s.schedule()
		if !got.SucceededAt.Equal(noon) || !got.Next.Equal(noon.Add(24*time.Hour)) || got.Failure != "" || len(s.files(backup.Destination{})) != 1 {
			t.Errorf("after the first run: %+v", got)
		}
		if at, known, err := s.store.Instance.Backups.LastVerified(t.Context()); !known || err != nil || !at.Equal(noon) {
			t.Errorf("last verified %v, %v, %v", at, known, err)
		}
		entries, err := s.store.Instance.Audit.Audit(t.Context(), operator, people.AuditFilter{Actor: "scheduled"})
		if err != nil || len(entries) != 1 || entries[0].Action != backup.ActionCreate || !strings.HasSuffix(entries[0].Detail, "bytes, verified") {
			t.Errorf("entries %+v, %v", entries, err)
		}
		s.now = noon.Add(24 * time.Hour)
		s.run(true)
		if left := s.files(backup.Destination{}); len(left) != 1 || !left[0].CreatedAt.Equal(s.now) {
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
		block := func() { // also root can't write into a file
			t.Helper()
			must.Do(t, errors.Join(os.RemoveAll(blocked), os.WriteFile(blocked, nil, 0o600)))
		}
		unblock := func() {
			t.Helper()
			must.Do(t, os.RemoveAll(blocked))
		}
		there := func(to *backup.Settings) {
			to.Active, to.Every, to.Out = true, 24*time.Hour, filepath.Join(blocked, "backups")
		}
		block()
		_, err := s.store.Instance.Backups.SetSchedule(t.Context(), operator, there)
		wantCode(t, err, countersign.KindUnavailable, "backup_folder")
		_, err = s.store.Instance.Backups.SetSchedule(t.Context(), operator, func(to *backup.Settings) { to.Active, to.Out = true, "file://"+blocked+"/backups" })
		wantCode(t, err, countersign.KindUnavailable, "media_unavailable")
		unblock()
		s.set(there)
		block()
		s.now = noon.Add(700 * time.Millisecond) // jobs are due in whole seconds
		s.run(true)
		got := s.schedule()
		if !got.FailedAt.Equal(noon) || !strings.Contains(got.Failure, blocked) || !got.Next.Equal(noon.Add(5*time.Minute)) || !got.SucceededAt.IsZero() {
			t.Errorf("after a failure: %+v", got)
		}
		s.set(func(to *backup.Settings) { to.Active = false })
		if got := s.schedule(); !got.FailedAt.Equal(noon) || got.Failure == "" {
			t.Errorf("switched off: %+v", got)
		}
		unblock()
		s.set(func(to *backup.Settings) { to.Active = true })
		block()
		if got := s.schedule(); !got.FailedAt.IsZero() || got.Failure != "" {
			t.Errorf("switched on again: %+v", got)
		}
		s.run(true)
		got = s.schedule()
		unblock()
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
	other := must.Get(store.Open(t.Context(), store.Options{Options: instance.Options{Dir: s.store.Instance.Options.Dir, Now: func() time.Time { return s.now }}}))(t)
	defer other.Close()
	must.Do(t, other.Prepare(t.Context()))
	s.set(on(time.Hour))
	command := jobs.New(other.Instance.Backups.DB, func() time.Time { return s.now }, slog.New(slog.DiscardHandler))
	other.Instance.Backups.Handle(command)
	must.Get(command.RunNext(t.Context()))(t)
	if left := s.files(backup.Destination{}); len(left) != 0 {
		t.Errorf("files %+v", left)
	}
	s.run(true)
	if left := s.files(backup.Destination{}); len(left) != 1 {
		t.Errorf("files of the server %+v", left)
	}
}

func TestEncryptedScheduledBackupsAreVerifiedWithoutTheIdentity(t *testing.T) {
	t.Parallel()
	x25519 := must.Get(age.GenerateX25519Identity())(t)
	hybrid := must.Get(age.GenerateHybridIdentity())(t)
	for recipient, identity := range map[string]age.Identity{x25519.Recipient().String(): x25519, hybrid.Recipient().String(): hybrid} {
		s := serve(t, template.New(t, dbtest.SQLite))
		bucket := "file://" + filepath.ToSlash(t.TempDir())
		s.set(func(to *backup.Settings) { to.Active, to.Recipients, to.Out = true, []string{recipient}, bucket })
		s.run(true)
		got := s.schedule()
		if got.SucceededAt.IsZero() || !strings.HasSuffix(got.File, ".age") {
			t.Fatalf("%+v", got)
		}
		in := must.Get(backup.OpenBucket(bucket))(t)
		defer in.Close()
		if _, err := s.store.Instance.Backups.Service.Verify(t.Context(), backup.Source{File: got.File, Bucket: in, Identities: []age.Identity{identity}}); err != nil {
			t.Error(err)
		}
		_, err := s.store.Instance.Backups.Service.Verify(t.Context(), backup.Source{File: got.File, Bucket: in})
		wantCode(t, err, countersign.KindInvalid, backup.CodeEncrypted)
	}
}

func TestOnlyTheOperatorWorksOnBackups(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	k, ctx := s.store.Instance.Backups, t.Context()
	for _, a := range []people.Actor{
		{Kind: people.KindUser, User: 1, Administrator: true}, {Kind: people.KindKey, Workspace: 1, Secret: true}, {Kind: people.KindVisitor},
	} {
		_, errCreate := k.Create(ctx, a, backup.CreateOptions{})
		_, errSetSchedule := k.SetSchedule(ctx, a, on(time.Hour))
		_, errSchedule := k.Schedule(ctx, a)
		_, errPrune := k.Prune(ctx, a, backup.Destination{}, backup.Keep{Count: 1})
		_, errRecordVerification := k.RecordVerification(ctx, a, backup.Source{}, backup.Info{}, nil)
		_, errVerifications := k.Verifications(ctx, a)
		for i, err := range []error{errCreate, errSetSchedule, errSchedule, errPrune, errRecordVerification, errVerifications, k.RecordRestore(ctx, a, backup.Source{}, backup.Restored{})} {
			if err == nil || !isForbidden(err) {
				t.Errorf("%s, call %d: %v", a.Kind, i+1, err)
			}
		}
	}
	if left := s.files(backup.Destination{}); len(left) != 0 {
		t.Errorf("files %+v", left)
	}
}
