package backup_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

func (s *server) wantEntries(action people.Action, want int) {
	s.Helper()
	entries, err := s.store.Instance.Audit.Audit(s.Context(), operator, people.AuditFilter{Action: string(action)})
	if err != nil || len(entries) != want {
		s.Errorf("%d entries of %s, %v, want %d", len(entries), action, err, want)
	}
}

func TestABackupBesideAWriterThatNeverPausesIsRecorded(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		s := serve(t, db)
		writer := must.Get(sqldb.Open(t.Context(), s.store.Instance.Backups.Service.Database))(t)
		ctx, stop := context.WithCancel(t.Context())
		begun, ended := make(chan struct{}), make(chan struct{})
		written := 0
		go func() {
			defer close(ended)
			for n := 0; ctx.Err() == nil; n++ {
				if addPair(ctx, writer, n) == nil { // one that is busy itself goes on
					written++
				}
				if n == 0 {
					close(begun)
				}
			}
		}()
		<-begun
		made, err := s.store.Instance.Backups.Create(t.Context(), operator, backup.CreateOptions{})
		stop()
		<-ended
		if written == 0 {
			t.Error("the other writer wrote nothing")
		}
		must.Do(t, errors.Join(err, made.Unrecorded, writer.Close()))
		s.wantEntries(backup.ActionCreate, 1)
	})
}

// The other writer holds the lock until the entry of the backup has waited for it once in vain.
func TestTheEntryOfABackupWaitsForItsTurn(t *testing.T) {
	dbtest.Long(t)
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	writer := must.Get(sqldb.Open(t.Context(), s.store.Instance.Backups.Service.Database))(t)
	defer writer.Close()
	locked, waited, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	var once sync.Once
	s.store.Instance.Backups.Waited(func() { once.Do(func() { close(waited) }) })
	go func() {
		ended <- writer.Tx(t.Context(), func(q sqldb.Queries) error {
			err := q.SetMeta(t.Context(), "held", "x")
			close(locked)
			<-waited
			return err
		})
	}()
	<-locked
	made, err := s.store.Instance.Backups.Create(t.Context(), operator, backup.CreateOptions{})
	must.Do(t, errors.Join(err, made.Unrecorded, <-ended))
	s.wantEntries(backup.ActionCreate, 1)
}

func TestAWrittenBackupIsReportedWithoutItsEntry(t *testing.T) {
	t.Parallel()
	s := serve(t, template.New(t, dbtest.SQLite))
	must.Get(s.store.Instance.Backups.DB.Queries().Exec(t.Context(), `CREATE TRIGGER no_entries BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no'); END`))(t)
	made, err := s.store.Instance.Backups.Create(t.Context(), operator, backup.CreateOptions{})
	if err != nil || made.Unrecorded == nil || made.File == "" {
		t.Errorf("%+v, %v", made, err)
	}
}
