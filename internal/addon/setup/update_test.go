package setup_test

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

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

func stepIDs(steps []setup.Step) []string {
	ids := make([]string, len(steps))
	for i, s := range steps {
		ids[i] = s.ID
	}
	return ids
}

func TestFirstUpdateSetsEverythingUp(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := addontest.New(t, at, dbtest.NewClock(noon))
		plan, err := f.Setup.Plan(t.Context(), operator)
		if err != nil || plan.Nothing {
			t.Fatalf("plan %+v, %v", plan, err)
		}
		want := []string{"tables", "key", "definitions", "settings", "credentials"}
		if !slices.Equal(stepIDs(plan.Steps), want) {
			t.Errorf("plan %v, want %v", stepIDs(plan.Steps), want)
		}
		var done []setup.Step
		report, err := f.Setup.Update(t.Context(), operator, func(s setup.Step) { done = append(done, s) })
		must.Do(t, err)
		if !slices.Equal(done, plan.Steps) || report.Backup != "" {
			t.Errorf("done %v, backup %q", done, report.Backup)
		}
		if !f.Installed() || f.State() != access.StateReady {
			t.Errorf("state %q", f.State())
		}
		list, err := f.Credentials.List(t.Context(), user)
		if err != nil || len(list) != 1 || !list[0].Active() {
			t.Errorf("credentials %+v, %v; want one pair, active", list, err)
		}
		if got := f.Draft(t); got.Published.Number != 1 || len(got.Changes) != 0 || len(got.List) != len(settings.Definitions()) {
			t.Errorf("settings: version %d, %d changed, %d settings", got.Published.Number, len(got.Changes), len(got.List))
		}
	})
}

func TestSecondUpdateHasNothingToDo(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		before := f.Everything(t)
		g := addontest.New(t, f.At, f.Clock)
		report := g.MustUpdate(t)
		if !report.Nothing || len(report.Steps) != 0 || report.Backup != "" {
			t.Errorf("report %+v", report)
		}
		if !g.Installed() {
			t.Error("an update with nothing to do leaves the addon unusable")
		}
		if got := f.Everything(t); got != before {
			t.Errorf("something changed:\n%s\n%s", before, got)
		}
	})
}

func TestPlanWritesNothing(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := addontest.New(t, at, dbtest.NewClock(noon))
		for range 2 {
			if plan, err := f.Setup.Plan(t.Context(), operator); err != nil || len(plan.Steps) != 5 {
				t.Errorf("plan %v, %v", plan, err)
			}
		}
		if state, err := f.Setup.DB().Queries.DB().State(t.Context()); err != nil || state != sqldb.StateEmpty {
			t.Errorf("the database is %s, %v", state, err)
		}
		if _, err := os.Stat(filepath.Join(at.Dir, "countersign.key")); err == nil {
			t.Error("a key file was made")
		}
	})
}

func TestBeforeTheFirstUpdate(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := addontest.New(t, at, dbtest.NewClock(noon))
		addontest.WantError(t, f.Prepare(t.Context()), "update_needed")
		_, err := f.Settings.Published(t.Context())
		addontest.WantError(t, err, "update_needed")
		_, err = f.Settings.Draft(t.Context(), operator)
		addontest.WantError(t, err, "update_needed")
		_, err = f.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{settings.KeyAppName: "x"})
		addontest.WantError(t, err, "update_needed")
		addontest.WantError(t, f.Instance.Ready(t.Context()), "update_needed")
		if f.Installed() {
			t.Error("it says that it is installed")
		}
	})
}

// A row that the update relies on is taken away, as by a definition that a new
// version brings.
func TestUpdateAddsWhatIsNewAndKeepsWhatIsThere(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.MustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
		f.MustPublish(t, "")
		f.MustSet(t, map[string]string{settings.KeyMessengerDomain: "chat.example.com"}) // waits in the draft
		f.Forget(t, settings.KeyStreamAppID)
		plan, err := f.Setup.Plan(t.Context(), operator)
		if err != nil || !slices.Equal(stepIDs(plan.Steps), []string{"backup", "definitions", "settings"}) {
			t.Fatalf("plan %+v, %v", plan, err)
		}
		report := f.MustUpdate(t)
		if info, err := os.Stat(report.Backup); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("backup %q: %v", report.Backup, err)
		}
		_, pair, err := f.Credentials.Reveal(t.Context(), operator, 1)
		content, readErr := os.ReadFile(report.Backup)
		if err != nil || readErr != nil || bytes.Contains(content, []byte(pair.Secret)) || bytes.Contains(content, []byte(pair.Key)) {
			t.Errorf("the backup holds a secret in clear, or can't be read: %v, %v", err, readErr)
		}
		if !strings.HasPrefix(filepath.Base(report.Backup), "addon-") {
			t.Errorf("the backup is called %s", report.Backup)
		}
		var body map[string]any
		must.Do(t, json.Unmarshal(f.Served(t).JSON, &body))
		if body[settings.KeyAppName] != "Tuneful" || body[settings.KeyStreamAppID] != "" || body[settings.KeyMessengerDomain] != "" {
			t.Errorf("served %v", body)
		}
		expect.Equalf(t, f.Value(t, settings.KeyMessengerDomain), "chat.example.com", "the draft lost a change")
		if list, err := f.Credentials.List(t.Context(), operator); err != nil || len(list) != 1 {
			t.Errorf("%d pairs, %v", len(list), err)
		}
	})
}

func TestChangedDefinitionIsRegisteredAnew(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		must.Get(f.Setup.DB().Exec(t.Context(), `UPDATE definitions SET kind = 'text' WHERE name = 'pushEnabled'`))(t)
		plan, err := f.Setup.Plan(t.Context(), operator)
		if err != nil || len(plan.Steps) != 2 || plan.Steps[1].Text != "Register 0 settings, change 1 definition; nothing is deleted" {
			t.Errorf("plan %+v, %v", plan, err)
		}
		f.MustUpdate(t)
		if report := f.MustUpdate(t); !report.Nothing {
			t.Errorf("report %+v", report)
		}
	})
}

func TestTwoUpdatesAtOnceDontMeet(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f, g := addontest.New(t, at, dbtest.NewClock(noon)), addontest.New(t, at, dbtest.NewClock(noon))
		unlock := must.Get(f.Setup.LockUpdate())(t)
		_, err := g.Setup.Update(t.Context(), operator, nil)
		addontest.WantError(t, err, "update_running")
		unlock()
		g.MustUpdate(t)
	})
}

// Several data folders may share a PostgreSQL database, each with a copy of the key
// file.
func TestManyFirstUpdatesMakeOnePair(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		var work sync.WaitGroup
		all := make([]*addontest.Fixture, 4)
		for i := range all {
			all[i] = addontest.New(t, at, dbtest.NewClock(noon))
			work.Go(func() {
				_, err := all[i].Setup.Update(t.Context(), operator, nil)
				if code := addontest.CodeOf(err); err != nil && code != "update_running" {
					t.Error(err)
				}
			})
		}
		work.Wait()
		all[0].MustUpdate(t)
		if list, err := all[0].Credentials.List(t.Context(), operator); err != nil || len(list) != 1 {
			t.Errorf("%d pairs, %v", len(list), err)
		}
		if list, err := all[0].Settings.Versions(t.Context(), operator, 0, 0); err != nil || len(list) != 1 {
			t.Errorf("%d versions, %v", len(list), err)
		}
	})
}

func TestDatabaseOfALaterVersionIsLeftAlone(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		addontest.Execute(t, f.At, `UPDATE addon_versions SET version_id = 99 WHERE version_id = 1`)
		g := addontest.New(t, f.At, f.Clock)
		addontest.WantError(t, g.Prepare(t.Context()), "schema_newer")
		_, err := g.Setup.Update(t.Context(), operator, nil)
		addontest.WantError(t, err, "schema_newer")
		_, err = g.Setup.Plan(t.Context(), operator)
		addontest.WantError(t, err, "schema_newer")
	})
}

// A running server whose database a later version updates stops.
func TestRunEndsWhenALaterVersionUpdated(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		server := addontest.New(t, f.At, f.Clock)
		live := feedLive(server)
		done := make(chan error, 1)
		go func() { done <- server.Run(t.Context()) }()
		<-live
		addontest.Execute(t, f.At, `UPDATE addon_versions SET version_id = 99 WHERE version_id = 1`)
		must.Do(t, f.Setup.DB().Queries.DB().Tx(t.Context(), func(q sqldb.Queries) error { return q.Mark(t.Context(), "update", "") }))
		addontest.WantError(t, <-done, "schema_newer")
	})
}

func TestServerWaitsForTheFirstUpdate(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		server := addontest.New(t, at, dbtest.NewClock(noon))
		ctx, stop := context.WithCancel(t.Context())
		live := feedLive(server)
		done := make(chan error, 1)
		go func() { done <- server.Run(ctx) }()
		addontest.New(t, at, dbtest.NewClock(noon)).MustUpdate(t) // another process
		<-live
		if got := server.Served(t).Version; got != 1 {
			t.Errorf("version %d is served", got)
		}
		addontest.WantError(t, server.Instance.Ready(t.Context()), "")
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestUpdateWithoutAKeyFileThatBelongsHere(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		key := filepath.Join(f.At.Dir, "countersign.key")
		must.Do(t, os.Rename(key, key+".away"))
		g := addontest.New(t, f.At, f.Clock)
		addontest.WantError(t, g.Prepare(t.Context()), "key_missing")
		f.Forget(t, settings.KeyStreamAppID)
		_, err := g.Setup.Update(t.Context(), operator, nil)
		addontest.WantError(t, err, "key_missing")
		if _, err := os.Stat(key); err == nil {
			t.Error("a new key file was made beside a database with content")
		}
	})
}
