package backup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
)

func TestAPlaceThatCannotBeDecryptedIsAFailure(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	got := s.set(func(to *backup.Settings) { to.Active, to.Out = true, t.TempDir() })
	got.Sealed[0] ^= 1
	text := must.Get(json.Marshal(got))(t)
	must.Do(t, s.store.Instance.Backups.DB.Queries().SetMeta(t.Context(), "backup_schedule", string(text)))
	s.run(true)
	if got := s.schedule(); !got.FailedAt.Equal(noon) || !strings.Contains(got.Failure, "can't be decrypted") {
		t.Errorf("after a run: %+v", got)
	}
	s.set(func(to *backup.Settings) {
		expect.Equalf(t, to.Out, "", "opened as")
	})
	s.now = s.schedule().Next
	s.run(true)
	if left := s.files(backup.Destination{}); len(left) != 1 {
		t.Errorf("files in the default folder: %+v", left)
	}
}

func TestTheURLOfAScheduleIsSealed(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		s := serve(t, db)
		const url = "s3://bucket?region=eu-central-1&prefix=hush-hush/"
		got := s.set(func(to *backup.Settings) { to.Active, to.Out = true, url })
		expect.Equalf(t, got.Destination, "s3://bucket", "place")
		kept, err := s.store.Instance.Backups.DB.Queries().Meta(t.Context(), "backup_schedule")
		entries, errEntries := s.store.Instance.Audit.Audit(t.Context(), operator, people.AuditFilter{Action: "backup.schedule"})
		if err != nil || errEntries != nil || len(entries) != 1 || strings.Contains(kept, "hush") || strings.Contains(entries[0].Detail, "hush") {
			t.Errorf("kept %s, entries %+v, %v, %v", kept, entries, err, errEntries)
		}
		s.set(func(to *backup.Settings) {
			expect.Equalf(t, to.Out, url, "opened as")
		})
		_, err = s.store.Instance.Backups.SetSchedule(t.Context(), operator, func(to *backup.Settings) { to.Out = "s3://bucket?region=x&token=hush-hush" })
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
				must.Do(t, os.Remove(filepath.Join(s.store.Instance.Options.Dir, keyfile.FileName)))
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
