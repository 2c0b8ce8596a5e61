package addon

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

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
		if got := f.settings(t); got.Published.Number != 1 || len(got.Changes) != 0 || len(got.List) != len(settings.Definitions()) {
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
		_, err = f.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{settings.KeyAppName: "x"})
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
