package addon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
)

func stepIDs(steps []Step) []string {
	ids := make([]string, len(steps))
	for i, s := range steps {
		ids[i] = s.ID
	}
	return ids
}

func TestFirstUpdateSetsEverythingUp(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := opened(t, at, &clock{now: noon})
		plan, err := f.Plan(t.Context(), operator)
		if err != nil || plan.Nothing {
			t.Fatalf("plan %+v, %v", plan, err)
		}
		want := []string{"tables", "key", "definitions", "settings", "credentials"}
		if !slices.Equal(stepIDs(plan.Steps), want) {
			t.Errorf("plan %v, want %v", stepIDs(plan.Steps), want)
		}
		var done []Step
		report, err := f.Update(t.Context(), operator, func(s Step) { done = append(done, s) })
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(done, plan.Steps) || report.Backup != "" {
			t.Errorf("done %v, backup %q", done, report.Backup)
		}
		if !f.Installed() || f.State() != StateReady {
			t.Errorf("state %q", f.State())
		}
		list, err := f.Credentials(t.Context(), user)
		if err != nil || len(list) != 1 || !list[0].Active() {
			t.Errorf("credentials %+v, %v; want one pair, active", list, err)
		}
		if got := f.settings(t); got.Published.Number != 1 || len(got.Changes) != 0 || len(got.List) != 15 {
			t.Errorf("settings: version %d, %d changed, %d settings", got.Published.Number, len(got.Changes), len(got.List))
		}
	})
}

func TestSecondUpdateHasNothingToDo(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		before := f.everything(t)
		g := opened(t, f.at, f.clock)
		report := g.mustUpdate(t)
		if !report.Nothing || len(report.Steps) != 0 || report.Backup != "" {
			t.Errorf("report %+v", report)
		}
		if !g.Installed() {
			t.Error("an update with nothing to do leaves the addon unusable")
		}
		if got := f.everything(t); got != before {
			t.Errorf("something changed:\n%s\n%s", before, got)
		}
	})
}

func TestPlanWritesNothing(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := opened(t, at, &clock{now: noon})
		for range 2 {
			if plan, err := f.Plan(t.Context(), operator); err != nil || len(plan.Steps) != 5 {
				t.Errorf("plan %v, %v", plan, err)
			}
		}
		if state, err := f.database.State(t.Context()); err != nil || state != sqldb.StateEmpty {
			t.Errorf("the database is %s, %v", state, err)
		}
		if _, err := os.Stat(filepath.Join(at.Dir, "countersign.key")); err == nil {
			t.Error("a key file was made")
		}
	})
}

func TestBeforeTheFirstUpdate(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := opened(t, at, &clock{now: noon})
		wantError(t, f.Prepare(t.Context()), "update_needed")
		_, err := f.Settings.Published(t.Context())
		wantError(t, err, "update_needed")
		_, err = f.Settings.Draft(t.Context(), operator)
		wantError(t, err, "update_needed")
		_, err = f.Settings.Set(t.Context(), operator, 0, map[string]string{settings.KeyAppName: "x"})
		wantError(t, err, "update_needed")
		wantError(t, f.Ready(t.Context()), "update_needed")
		if f.Installed() {
			t.Error("it says that it is installed")
		}
	})
}

// A row that the update relies on is taken away, as by a definition that a new
// version brings.
func TestUpdateAddsWhatIsNewAndKeepsWhatIsThere(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.mustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
		f.mustPublish(t, "")
		f.mustSet(t, map[string]string{settings.KeyMessengerDomain: "chat.example.com"}) // waits in the draft
		f.forget(t, settings.KeyStreamAppID)
		plan, err := f.Plan(t.Context(), operator)
		if err != nil || !slices.Equal(stepIDs(plan.Steps), []string{"backup", "definitions", "settings"}) {
			t.Fatalf("plan %+v, %v", plan, err)
		}
		report := f.mustUpdate(t)
		if info, err := os.Stat(report.Backup); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("backup %q: %v", report.Backup, err)
		}
		_, pair, err := f.RevealCredential(t.Context(), operator, 1)
		content, readErr := os.ReadFile(report.Backup)
		if err != nil || readErr != nil || bytes.Contains(content, []byte(pair.Secret)) || bytes.Contains(content, []byte(pair.Key)) {
			t.Errorf("the backup holds a secret in clear, or can't be read: %v, %v", err, readErr)
		}
		if !strings.HasPrefix(filepath.Base(report.Backup), "addon-") {
			t.Errorf("the backup is called %s", report.Backup)
		}
		var body map[string]any
		if err := json.Unmarshal(f.served(t).JSON, &body); err != nil {
			t.Fatal(err)
		}
		if body[settings.KeyAppName] != "Tuneful" || body[settings.KeyStreamAppID] != "" || body[settings.KeyMessengerDomain] != "" {
			t.Errorf("served %v", body)
		}
		if got := f.value(t, settings.KeyMessengerDomain); got != "chat.example.com" {
			t.Errorf("the draft lost a change: %q", got)
		}
		if list, err := f.Credentials(t.Context(), operator); err != nil || len(list) != 1 {
			t.Errorf("%d pairs, %v", len(list), err)
		}
	})
}

// forget takes a setting out of everything, as if this build had brought it.
func (f *fixture) forget(t *testing.T, key string) {
	t.Helper()
	last, err := f.db.LastVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last.Settings.V = slices.DeleteFunc(last.Settings.V, func(s addondb.Setting) bool { return s.Name == key })
	settings, err := last.Settings.Value()
	if err != nil {
		t.Fatal(err)
	}
	for query, args := range map[string][]any{
		`DELETE FROM definitions WHERE name = $1`:             {key},
		`DELETE FROM settings WHERE name = $1`:                {key},
		`UPDATE versions SET settings = $1 WHERE number = $2`: {settings, last.Number},
	} {
		if _, err := f.db.Exec(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChangedDefinitionIsRegisteredAnew(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		if _, err := f.db.Exec(t.Context(), `UPDATE definitions SET kind = 'text' WHERE name = 'pushEnabled'`); err != nil {
			t.Fatal(err)
		}
		plan, err := f.Plan(t.Context(), operator)
		if err != nil || len(plan.Steps) != 2 || plan.Steps[1].Text != "Register 0 settings, change 1 definition; nothing is deleted" {
			t.Errorf("plan %+v, %v", plan, err)
		}
		f.mustUpdate(t)
		if report := f.mustUpdate(t); !report.Nothing {
			t.Errorf("report %+v", report)
		}
	})
}

func TestTwoUpdatesAtOnceDontMeet(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f, g := opened(t, at, &clock{now: noon}), opened(t, at, &clock{now: noon})
		unlock, err := f.lockUpdate()
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.Update(t.Context(), operator, nil)
		wantError(t, err, "update_running")
		unlock()
		g.mustUpdate(t)
	})
}

// Several data folders may share a PostgreSQL database, each with a copy of the key
// file.
func TestManyFirstUpdatesMakeOnePair(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		var work sync.WaitGroup
		all := make([]*fixture, 4)
		for i := range all {
			all[i] = opened(t, at, &clock{now: noon})
			work.Go(func() {
				_, err := all[i].Update(t.Context(), operator, nil)
				if code := codeOf(err); err != nil && code != "update_running" {
					t.Error(err)
				}
			})
		}
		work.Wait()
		all[0].mustUpdate(t)
		if list, err := all[0].Credentials(t.Context(), operator); err != nil || len(list) != 1 {
			t.Errorf("%d pairs, %v", len(list), err)
		}
		if list, err := all[0].Settings.Versions(t.Context(), operator, 0, 0); err != nil || len(list) != 1 {
			t.Errorf("%d versions, %v", len(list), err)
		}
	})
}

// A step that fails leaves what was there, says which step it was, and the next
// run completes the update.
func TestFailedStepLeavesTheOldState(t *testing.T) {
	for _, table := range []string{"definitions", "settings", "versions", "audit"} {
		t.Run(table, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				f.mustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
				f.mustPublish(t, "")
				f.forget(t, settings.KeyStreamAppID)
				before, served := f.everything(t), f.served(t).JSON
				f.breakTable(t, table)
				_, err := f.Update(t.Context(), operator, nil)
				wantError(t, err, "update_failed")
				if err == nil || !strings.Contains(err.Error(), "run it again") {
					t.Errorf("%v does not say what to do", err)
				}
				if got := f.everything(t); got != before {
					t.Errorf("something changed:\n%s\n%s", before, got)
				}
				if got := f.again(t).served(t).JSON; !bytes.Equal(got, served) {
					t.Errorf("served %s, want %s", got, served)
				}
				f.mendTable(t, table)
				f.mustUpdate(t)
				if got := f.value(t, settings.KeyAppName); got != "Tuneful" {
					t.Errorf("appName %q", got)
				}
			})
		})
	}
}

// breakTable lets every insert and update of a table fail.
func (f *fixture) breakTable(t *testing.T, table string) {
	t.Helper()
	statements := []string{
		`CREATE TRIGGER broken_i BEFORE INSERT ON ` + table + ` BEGIN SELECT RAISE(ABORT, 'broken'); END`,
		`CREATE TRIGGER broken_u BEFORE UPDATE ON ` + table + ` BEGIN SELECT RAISE(ABORT, 'broken'); END`,
	}
	if f.at.Engine == dbtest.Postgres {
		statements = []string{
			`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''broken''; END'`,
			`CREATE TRIGGER broken BEFORE INSERT OR UPDATE ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION broken()`,
		}
	}
	f.execute(t, statements...)
}

func (f *fixture) mendTable(t *testing.T, table string) {
	t.Helper()
	if f.at.Engine == dbtest.Postgres {
		f.execute(t, `DROP TRIGGER broken ON `+table)
		return
	}
	f.execute(t, `DROP TRIGGER broken_i`, `DROP TRIGGER broken_u`)
}

func (f *fixture) execute(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := f.db.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDatabaseOfALaterVersionIsLeftAlone(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.execute(t, `UPDATE addon_versions SET version_id = 99 WHERE version_id = 1`)
		g := opened(t, f.at, f.clock)
		wantError(t, g.Prepare(t.Context()), "schema_newer")
		_, err := g.Update(t.Context(), operator, nil)
		wantError(t, err, "schema_newer")
		_, err = g.Plan(t.Context(), operator)
		wantError(t, err, "schema_newer")
	})
}

// A running server whose database a later version updates stops.
func TestRunEndsWhenALaterVersionUpdated(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		server := opened(t, f.at, f.clock)
		live := server.feedLive()
		done := make(chan error, 1)
		go func() { done <- server.Run(t.Context()) }()
		<-live
		f.execute(t, `UPDATE addon_versions SET version_id = 99 WHERE version_id = 1`)
		err := f.database.Tx(t.Context(), func(q sqldb.Queries) error { return q.Mark(t.Context(), "update", "") })
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, <-done, "schema_newer")
	})
}

func TestServerWaitsForTheFirstUpdate(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		server := opened(t, at, &clock{now: noon})
		ctx, stop := context.WithCancel(t.Context())
		live := server.feedLive()
		done := make(chan error, 1)
		go func() { done <- server.Run(ctx) }()
		opened(t, at, &clock{now: noon}).mustUpdate(t) // another process
		<-live
		if got := server.served(t).Version; got != 1 {
			t.Errorf("version %d is served", got)
		}
		wantError(t, server.Ready(t.Context()), "")
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestUpdateWithoutAKeyFileThatBelongsHere(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		key := filepath.Join(f.at.Dir, "countersign.key")
		if err := os.Rename(key, key+".away"); err != nil {
			t.Fatal(err)
		}
		g := opened(t, f.at, f.clock)
		wantError(t, g.Prepare(t.Context()), "key_missing")
		f.forget(t, settings.KeyStreamAppID)
		_, err := g.Update(t.Context(), operator, nil)
		wantError(t, err, "key_missing")
		if _, err := os.Stat(key); err == nil {
			t.Error("a new key file was made beside a database with content")
		}
	})
}

// A first update that is killed between the migrations of two rooms leaves some
// tables; the next one makes the rest.
func TestUpdateAfterSomeOfTheTables(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		for n := range len(addondb.Schemas) + 1 {
			here := dbtest.DB{Engine: at.Engine, Dir: t.TempDir(), URL: at.URL}
			if here.URL != "" {
				emptyAgain(t, here)
			}
			db, err := sqldb.Open(t.Context(), sqldb.Options{URL: here.URL, Path: filepath.Join(here.Dir, DatabaseName), Schemas: addondb.Schemas[:n]})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Migrate(t.Context()), db.Close()); err != nil {
				t.Fatal(err)
			}
			f := opened(t, here, &clock{now: noon})
			wantError(t, f.Prepare(t.Context()), "update_needed")
			_, err = f.Settings.Published(t.Context())
			wantError(t, err, "update_needed")
			if _, _, err := f.NewSetupLink(t.Context(), operator); err != nil {
				t.Error(err)
			}
			plan, err := f.Plan(t.Context(), operator)
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
		f := opened(t, at, &clock{now: noon})
		f.execute(t, `CREATE TABLE packages (somebody_elses text)`)
		_, err := f.Update(t.Context(), operator, nil)
		if err == nil || !strings.Contains(err.Error(), `stopped at the step "make the tables"`) {
			t.Errorf("%v", err)
		}
		if strings.Contains(messageOf(err), "packages") {
			t.Errorf("the message shows the database's own words: %q", messageOf(err))
		}
		_, err = f.Settings.Published(t.Context())
		wantError(t, err, "unavailable") // nobody has looked yet
		wantError(t, f.Prepare(t.Context()), "update_needed")
		f.execute(t, `DROP TABLE packages`)
		wantWhole(t, at, 1)
	})
}

func messageOf(err error) string {
	e := new(countersign.Error)
	asError(err, &e)
	return e.Message
}

func TestUpdateInAFolderThatCannotBeWritten(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	f := opened(t, at, &clock{now: noon})
	if err := os.Mkdir(filepath.Join(at.Dir, updateLock), 0o700); err != nil { // in the lock's place
		t.Fatal(err)
	}
	_, err := f.Update(t.Context(), operator, nil)
	wantError(t, err, "data_folder")
}
