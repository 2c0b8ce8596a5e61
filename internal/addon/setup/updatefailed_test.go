package setup_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// A step that fails leaves what was there, says which step it was, and the next
// run completes the update.
func TestFailedStepLeavesTheOldState(t *testing.T) {
	for _, table := range []string{"definitions", "settings", "versions", "audit"} {
		t.Run(table, func(t *testing.T) {
			addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
				f.MustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
				f.MustPublish(t, "")
				f.Forget(t, settings.KeyStreamAppID)
				before, served := f.Everything(t), f.Served(t).JSON
				breakTable(t, f, table)
				_, err := f.Setup.Update(t.Context(), operator, nil)
				addontest.WantError(t, err, "update_failed")
				if err == nil || !strings.Contains(err.Error(), "run it again") {
					t.Errorf("%v does not say what to do", err)
				}
				if got := f.Everything(t); got != before {
					t.Errorf("something changed:\n%s\n%s", before, got)
				}
				if got := f.Again(t).Served(t).JSON; !bytes.Equal(got, served) {
					t.Errorf("served %s, want %s", got, served)
				}
				mendTable(t, f, table)
				f.MustUpdate(t)
				expect.Equalf(t, f.Value(t, settings.KeyAppName), "Tuneful", "appName")
			})
		})
	}
}

// breakTable lets every insert and update of a table fail.
func breakTable(t *testing.T, f *addontest.Fixture, table string) {
	t.Helper()
	statements := []string{
		`CREATE TRIGGER broken_i BEFORE INSERT ON ` + table + ` BEGIN SELECT RAISE(ABORT, 'broken'); END`,
		`CREATE TRIGGER broken_u BEFORE UPDATE ON ` + table + ` BEGIN SELECT RAISE(ABORT, 'broken'); END`,
	}
	if f.At.Engine == dbtest.Postgres {
		statements = []string{
			`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''broken''; END'`,
			`CREATE TRIGGER broken BEFORE INSERT OR UPDATE ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION broken()`,
		}
	}
	addontest.Execute(t, f.At, statements...)
}

func mendTable(t *testing.T, f *addontest.Fixture, table string) {
	t.Helper()
	if f.At.Engine == dbtest.Postgres {
		addontest.Execute(t, f.At, `DROP TRIGGER broken ON `+table)
		return
	}
	addontest.Execute(t, f.At, `DROP TRIGGER broken_i`, `DROP TRIGGER broken_u`)
}

// A first update that is killed between the migrations of two packages leaves some
// tables; the next one makes the rest.
func TestUpdateAfterSomeOfTheTables(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		for n := range len(addondb.Schemas) + 1 {
			here := dbtest.DB{Engine: at.Engine, Dir: t.TempDir(), URL: at.URL}
			if here.URL != "" {
				emptyAgain(t, here)
			}
			db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: here.URL, Path: filepath.Join(here.Dir, addon.Product.DatabaseName()), Schemas: addondb.Schemas[:n]}))(t)
			must.Do(t, errors.Join(db.Migrate(t.Context()), db.Close()))
			f := addontest.New(t, here, dbtest.NewClock(noon))
			addontest.WantError(t, f.Prepare(t.Context()), "update_needed")
			_, err := f.Settings.Published(t.Context())
			addontest.WantError(t, err, "update_needed")
			if _, _, err := f.Setup.NewLink(t.Context(), operator); err != nil {
				t.Error(err)
			}
			plan, err := f.Setup.Plan(t.Context(), operator)
			if err != nil || plan.Steps[len(plan.Steps)-1].ID != "setup" {
				t.Errorf("plan %+v, %v", plan, err)
			}
			wantWhole(t, here, 1)
		}
	})
}

// Migrations that fail leave an addon that is not set up, and the next run sets it
// up.
func TestFailedMigrationIsRunAgain(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := addontest.New(t, at, dbtest.NewClock(noon))
		addontest.Execute(t, f.At, `CREATE TABLE packages (somebody_elses text)`)
		_, err := f.Setup.Update(t.Context(), operator, nil)
		if err == nil || !strings.Contains(err.Error(), `stopped at the step "create the tables"`) {
			t.Errorf("%v", err)
		}
		if strings.Contains(messageOf(err), "log") {
			t.Errorf("the message names a log that its reader may not have: %q", messageOf(err))
		}
		if strings.Contains(messageOf(err), "packages") {
			t.Errorf("the message shows the database's own words: %q", messageOf(err))
		}
		_, err = f.Settings.Published(t.Context())
		addontest.WantError(t, err, "unavailable") // nobody has looked yet
		addontest.WantError(t, f.Prepare(t.Context()), "update_needed")
		addontest.Execute(t, f.At, `DROP TABLE packages`)
		wantWhole(t, at, 1)
	})
}

func messageOf(err error) string {
	e := new(countersign.Error)
	errors.As(err, &e)
	return e.Message
}

func TestUpdateInAFolderThatCannotBeWritten(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	f := addontest.New(t, at, dbtest.NewClock(noon))
	if err := os.Mkdir(filepath.Join(at.Dir, setup.LockFile), 0o700); err != nil { // in the lock's place
		t.Fatal(err)
	}
	_, err := f.Setup.Update(t.Context(), operator, nil)
	addontest.WantError(t, err, "data_folder")
}
