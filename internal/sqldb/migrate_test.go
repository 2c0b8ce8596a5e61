package sqldb

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestState(t *testing.T) {
	t.Parallel()
	other := Schema{Name: "others", Files: fstest.MapFS{"migrations/00001_others.sql": {Data: []byte("CREATE TABLE others (id bigint);")}}}
	cases := []struct {
		name     string
		migrated []Schema // nil: nobody has migrated
		asked    []Schema
		want     State
	}{
		{"without tables it is empty", nil, []Schema{twoSteps()}, StateEmpty},
		{"with all steps it is current", []Schema{twoSteps()}, []Schema{twoSteps()}, StateCurrent},
		{"lacking a step it is older", []Schema{oneStep()}, []Schema{twoSteps()}, StateOlder},
		{"lacking a schema it is older", []Schema{twoSteps()}, []Schema{twoSteps(), other}, StateOlder},
		{"with a step we do not know it is newer", []Schema{twoSteps()}, []Schema{oneStep()}, StateNewer},
		{"newer wins over older", []Schema{twoSteps()}, []Schema{oneStep(), other}, StateNewer},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
				if c.migrated != nil {
					must.Do(t, open(t, optionsOf(at, c.migrated...)).Migrate(t.Context()))
				}
				got, err := open(t, optionsOf(at, c.asked...)).State(t.Context())
				if err != nil || got != c.want {
					t.Errorf("state %q, %v; want %q", got, err, c.want)
				}
			})
		})
	}
}

func TestOpenMakesNoTable(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	db := open(t, optionsOf(at, twoSteps()))
	must.Get(db.State(t.Context()))(t)
	expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM sqlite_schema`), 0, "tables")
}

func TestMigrateKeepsRowsAndRunsEachStepOnce(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		older := open(t, optionsOf(at, oneStep()))
		must.Do(t, older.Migrate(t.Context()))
		exec(t, older, `INSERT INTO notes (id, text) VALUES (1, 'kept')`)
		db := open(t, optionsOf(at, twoSteps()))
		for range 2 {
			must.Do(t, db.Migrate(t.Context()))
		}
		expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes WHERE text = 'kept' AND NOT done`), 1, "rows came through")
	})
}

func TestMigrationsTellsWhatIsApplied(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		must.Do(t, open(t, optionsOf(at, oneStep())).Migrate(t.Context()))
		got, err := open(t, optionsOf(at, twoSteps())).Migrations(t.Context())
		want := []Migration{
			{"countersign", 1, "00001_changes", true}, {"notes", 1, "00001_notes", true}, {"notes", 2, "00002_done", false},
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	})
}

func TestMigrationOfOneEngineIsLeftOutOnTheOther(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := open(t, optionsOf(at, Schema{Name: "notes", Files: fstest.MapFS{
			"migrations/00001_notes.sqlite.sql":   {Data: []byte("CREATE TABLE of_sqlite (id bigint);")},
			"migrations/00001_notes.postgres.sql": {Data: []byte("CREATE TABLE of_postgres (id bigint);")},
		}}))
		must.Do(t, db.Migrate(t.Context()))
		count(t, db.Queries(), `SELECT count(*) FROM of_`+at.Engine)
		if state, err := db.State(t.Context()); err != nil || state != StateCurrent {
			t.Errorf("state %q, %v", state, err)
		}
	})
}

func TestFailedStepLeavesTheOldState(t *testing.T) {
	broken := Schema{Name: "notes", Files: fstest.MapFS{
		"migrations/00001_notes.sql": {Data: []byte(firstStep)},
		"migrations/00002_bad.sql":   {Data: []byte("CREATE TABLE half (id bigint);\nSELECT * FROM nowhere;")},
	}}
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := open(t, optionsOf(at, broken))
		if err := db.Migrate(t.Context()); err == nil {
			t.Fatal("a broken step went through")
		}
		if _, err := db.Queries().Exec(t.Context(), `SELECT 1 FROM half`); !errors.Is(err, errNoTable) {
			t.Errorf("half of a step is there: %v", err)
		}
		if state, err := db.State(t.Context()); err != nil || state != StateOlder {
			t.Errorf("state %q, %v; want older", state, err)
		}
		expect.NoErrorf(t, open(t, optionsOf(at, twoSteps())).Migrate(t.Context()), "with the step mended")
	})
}

func TestTwoMigrateAtOnce(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		var work sync.WaitGroup
		for range 4 {
			db := open(t, optionsOf(at, twoSteps()))
			work.Go(func() {
				expect.NoError(t, db.Migrate(t.Context()))
			})
		}
		work.Wait()
		db := open(t, optionsOf(at, twoSteps()))
		if state, err := db.State(t.Context()); err != nil || state != StateCurrent {
			t.Errorf("state %q, %v", state, err)
		}
	})
}

// The names of a step's two files say that they are the same step.
func TestStepsOfBothEnginesBelongTogether(t *testing.T) {
	names := must.Get(fs.Glob(ownFiles, "migrations/*.sql"))(t)
	for _, name := range names {
		twin, found := strings.CutSuffix(name, ".sqlite.sql")
		if found && !slices.Contains(names, twin+".postgres.sql") {
			t.Errorf("%s has no twin for PostgreSQL", name)
		}
	}
}
