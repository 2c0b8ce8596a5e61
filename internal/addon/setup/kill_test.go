package setup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// beKilled runs an update.
func beKilled(step string, place dbtest.DB) error { return addontest.UpdateUntil(step, place, noon) }

// wantWhole completes an update after a kill and wants everything to be there
// once.
func wantWhole(t *testing.T, place dbtest.DB, versions int) *addontest.Fixture {
	t.Helper()
	f := addontest.New(t, place, dbtest.NewClock(noon))
	f.MustUpdate(t)
	if f.At.Engine == dbtest.SQLite {
		verdict, err := sqldb.One(t.Context(), f.Setup.DB().Queries.DB().Queries(), sqldb.Value[string], `PRAGMA integrity_check`)
		if err != nil || verdict != "ok" {
			t.Errorf("integrity: %s, %v", verdict, err)
		}
	}
	if list, err := f.Credentials.List(t.Context(), operator); err != nil || len(list) != 1 || !list[0].Active() {
		t.Errorf("pairs %+v, %v", list, err)
	}
	if list, err := f.Settings.Versions(t.Context(), operator, 0, 0); err != nil || len(list) != versions {
		t.Errorf("%d versions, %v; want %d", len(list), err, versions)
	}
	if plan, err := f.Setup.Plan(t.Context(), operator); err != nil || !plan.Nothing {
		t.Errorf("there is something left to do: %+v, %v", plan, err)
	}
	return f
}

// A first update that is killed anywhere is completed by the next one.
func TestKilledFirstUpdateIsCompleted(t *testing.T) {
	places(t, func(t *testing.T, place dbtest.DB) {
		for point := range dbtest.Steps(place.Engine) {
			if point > 60 {
				t.Fatal("the update takes more points than expected")
			}
			here := dbtest.DB{Engine: place.Engine, Dir: t.TempDir(), URL: place.URL}
			if here.URL != "" {
				emptyAgain(t, here)
			}
			setupToken, _, err := addontest.New(t, here, dbtest.NewClock(noon)).Setup.NewLink(t.Context(), operator)
			must.Do(t, err)
			done := dbtest.Killed(t, here, strconv.Itoa(point))
			f := wantWhole(t, here, 1)
			expect.Equalf(t, string(f.Served(t).JSON), addontest.DefaultsServed, "killed at point %d: served", point)
			addontest.WantError(t, f.Setup.CheckLink(t.Context(), setupToken), "")
			if done && point < 8 {
				t.Errorf("the update has %d points only: it was never killed in its transaction", point)
			}
			if done {
				break
			}
		}
	})
}

// emptyAgain gives a PostgreSQL database that was used before back its first
// state.
func emptyAgain(t *testing.T, place dbtest.DB) {
	t.Helper()
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: place.URL}))(t)
	defer db.Close()
	for _, s := range []string{"DROP SCHEMA public CASCADE", "CREATE SCHEMA public"} {
		must.Get(db.Queries().Exec(t.Context(), s))(t)
	}
}

// An update of an addon in use that is killed anywhere loses no setting: neither
// what is served nor what waits in the draft.
func TestKilledLaterUpdateLosesNoSetting(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.MustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
		must.Get(f.Settings.AddKey(t.Context(), operator, settings.Edit{}, "theme", settings.TypeText, "dark"))(t)
		f.MustPublish(t, "")
		f.MustSet(t, map[string]string{settings.KeyMessengerDomain: "chat.example.com"})
		served := string(f.Served(t).JSON)
		versions := 2
		for point := range dbtest.Steps(f.At.Engine) {
			if point > 50 {
				t.Fatal("the update takes more points than expected")
			}
			f.Forget(t, settings.KeyStreamAppID)
			done := dbtest.Killed(t, f.At, strconv.Itoa(point))
			g := f.Again(t)
			expect.Equalf(t, string(g.Served(t).JSON), served, "killed at point %d: served", point)
			versions++
			wantWhole(t, f.At, versions)
			expect.Equalf(t, g.Value(t, settings.KeyMessengerDomain), "chat.example.com", "killed at point %d: the draft lost a change", point)
			if done {
				break
			}
		}
		wantNoHalfBackup(t, f.At)
	})
}

func wantNoHalfBackup(t *testing.T, place dbtest.DB) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(place.Dir, "backups"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".partial") {
			t.Errorf("half a backup is left: %s", e.Name())
		}
	}
}
