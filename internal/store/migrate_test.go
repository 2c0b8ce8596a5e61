package store_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/gofrs/flock"
)

// migrate creates the tables of some schemas, as another build would.
func migrate(t *testing.T, place dbtest.DB, schemas ...sqldb.Schema) {
	t.Helper()
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: place.URL, Path: filepath.Join(place.Dir, store.Product.DatabaseName()), Schemas: schemas}))(t)
	defer db.Close()
	must.Do(t, db.Migrate(t.Context()))
}

// withContent writes what every store that was ever prepared has: the check value
// of its key file.
func withContent(t *testing.T, place dbtest.DB) {
	t.Helper()
	box := must.Get(keyfile.Create(place.Dir))(t)
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: place.URL, Path: filepath.Join(place.Dir, store.Product.DatabaseName())}))(t)
	defer db.Close()
	must.Do(t, db.Queries().SetMeta(t.Context(), keyfile.CheckName, box.Check()))
}

func TestMigrateBacksUpWhatIsOlderAndHasContent(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		if backup, err := storetest.Unprepared(t, dbtest.New(t, place.Engine)).Migrate(t.Context()); err != nil || backup != "" {
			t.Errorf("an empty database: %q, %v", backup, err)
		}
		migrate(t, place, peopledb.Schema)
		withContent(t, place)
		s := storetest.Unprepared(t, place)
		backup := must.Get(s.Migrate(t.Context()))(t)
		if info, err := os.Stat(backup); err != nil || info.Size() == 0 || filepath.Dir(backup) != filepath.Join(place.Dir, "backups") {
			t.Errorf("backup %q: %v", backup, err)
		}
		if again, err := s.Migrate(t.Context()); err != nil || again != "" {
			t.Errorf("the second time: %q, %v", again, err)
		}
		steps, err := s.Migrations(t.Context())
		if err != nil || len(steps) < 3 {
			t.Fatalf("steps %+v, %v", steps, err)
		}
		for _, step := range steps {
			if !step.Applied {
				t.Errorf("step %+v is not applied", step)
			}
		}
		expect.NoError(t, s.Prepare(t.Context()))
	})
}

// onMessage calls fn with each message of a log.
type onMessage struct {
	slog.Handler
	fn func(message string)
}

// Enabled is that of [slog.Handler].
func (onMessage) Enabled(context.Context, slog.Level) bool { return true }

// Handle is that of [slog.Handler].
func (o onMessage) Handle(_ context.Context, r slog.Record) error {
	o.fn(r.Message)
	return nil
}

// migratesLater migrates an older store as a server does, which calls do each time that its log says something.
func migratesLater(t *testing.T, f *storetest.Fixture, says string, times int, do func(s *store.Store, time int)) {
	t.Helper()
	o := storetest.OptionsOf(f.At, f.Clock)
	var s *store.Store
	said := 0
	o.Log = slog.New(onMessage{slog.DiscardHandler, func(message string) {
		if strings.Contains(message, says) {
			said++
			do(s, said)
		}
	}})
	s = storetest.Opened(t, o)
	storetest.WantError(t, s.BeginToServe(t.Context()), "migrating")
	if err := s.PrepareLater(t.Context()); err != nil || said != times {
		t.Fatalf("said so %d times, %v", said, err)
	}
	storetest.WantError(t, s.Instance.Ready(t.Context()), "")
}

// A package is upgraded while cron writes a backup.
func TestAMigrationWaitsForTheBackupOfAnotherProcess(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		older(t, f)
		folder := filepath.Join(f.At.Dir, "backups")
		must.Do(t, os.MkdirAll(folder, 0o700))
		other := flock.New(filepath.Join(folder, "store.lock"))
		if locked, err := other.TryLock(); err != nil || !locked {
			t.Fatal(locked, err)
		}
		migratesLater(t, f, "waits for a backup", 1, func(s *store.Store, _ int) {
			storetest.WantError(t, s.Instance.Ready(t.Context()), "migrating")
			expect.NoError(t, other.Unlock())
		})
	})
}

// The folder belongs to root after a backup that root has created.
func TestAMigrationThatCannotWriteItsBackupSaysSo(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		older(t, f)
		folder := filepath.Join(f.At.Dir, "backups")
		write(t, folder, "") // also root can't write into it
		migratesLater(t, f, "can't be migrated", 2, func(s *store.Store, said int) {
			err := s.Instance.Ready(t.Context())
			storetest.WantError(t, err, "migration_failed")
			if err == nil || !strings.Contains(err.Error(), folder) {
				t.Errorf("%v does not name the folder", err)
			}
			f.Clock.Move(time.Minute)
			if said == 2 {
				remove(t, folder)
			}
		})
	})
}
