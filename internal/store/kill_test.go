package store

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/transfer"
)

// envAct names what the program does that is killed.
const envAct = "COUNTERSIGN_TEST_ACT"

// This test binary is also the program that is killed: it acts on a store, tells
// on its standard output how far it has come, and waits at the point where it is
// to be killed.
func TestMain(m *testing.M) {
	if step, place := dbtest.ChildStep(); step != "" {
		if err := beKilled(os.Getenv(envAct), step, place); err != nil {
			fmt.Println("failed:", err)
		}
		os.Exit(1)
	}
	dbtest.Setup()
	os.Exit(m.Run())
}

// beKilled does one act. Every question for the time is a step; the process stops
// at the step with a number, or when it has done everything.
func beKilled(act, number string, place dbtest.DB) error {
	ctx := context.Background()
	stopAt, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	var step atomic.Int64
	next := func() time.Time {
		if step.Add(1) == int64(stopAt) {
			fmt.Println("waiting")
			select {}
		}
		return noon
	}
	o := Options{Dir: place.Dir, URL: place.URL, Now: next}
	o.Progress = func(int64, int64) { next() }
	s, err := Open(ctx, o)
	if err != nil {
		return err
	}
	if act != "migrate" {
		if err := s.Prepare(ctx); err != nil {
			return err
		}
	}
	switch act {
	case "migrate":
		_, err = s.Migrate(ctx)
	case "import":
		_, err = s.Transfer.Import(ctx, operator, strings.NewReader(killedImport()), transfer.ImportOptions{Progress: func(int64) { next() }})
	case "job":
		if _, err = s.begin(ctx, operator, uploaded, killedSales()); err == nil {
			_, err = s.jobs.RunNext(ctx)
		}
	case "upload":
		var id int64
		if id, err = s.Transfer.Upload(ctx, operator, uploaded, strings.NewReader(killedSales())); err == nil {
			dry := uploaded
			dry.DryRun = true
			_, err = s.Transfer.Confirm(ctx, operator, id, dry)
		}
		if err == nil {
			_, err = s.Transfer.Confirm(ctx, operator, id, uploaded)
		}
	case "key":
		_, _, err = s.CreateKey(ctx, operator, NewKey{Workspace: "ada", Name: "killed", Class: ClassSecret})
	case "rekey":
		_, err = s.Rekey(ctx, operator)
	case "keys":
		for i := 0; err == nil; i++ {
			if _, _, err = s.CreateKey(ctx, operator, NewKey{Workspace: "ada", Name: fmt.Sprint("killed ", i), Class: ClassSecret}); err == nil {
				fmt.Println("made")
			}
		}
	}
	if err == nil {
		fmt.Println("waiting: done")
		select {}
	}
	return err
}

// killedImport is a file with something of everything.
func killedImport() string {
	var file strings.Builder
	file.WriteString(lines(workspaceText("ada", `"quota":5`), workspaceText("eve"), keyText("eve", "a"), keyText("eve", "b"),
		itemText("eve", 10), itemText("ada", 1, `"name":"renamed"`)))
	for i := range 1100 {
		file.WriteString(purchaseText("eve", 10, "killed-"+text(i)) + "\n")
	}
	return file.String()
}

// killed runs an act in a process of its own, kills that at a step and returns
// what it said. It calls reached for every line; a process that is not to be
// killed at a step is killed when reached says so.
func killed(t *testing.T, place dbtest.DB, act string, step int, reached func(said string) bool) (said []string) {
	t.Helper()
	c := dbtest.StartChild(t, place, strconv.Itoa(step), envAct+"="+act)
	for c.Lines.Scan() {
		if strings.HasPrefix(c.Lines.Text(), "failed") {
			t.Error(c.Lines.Text())
		}
		said = append(said, c.Lines.Text())
		if reached(c.Lines.Text()) {
			break
		}
	}
	c.Kill()
	for c.Lines.Scan() { // what was on its way
		said = append(said, c.Lines.Text())
	}
	c.Wait()
	return said
}

func waiting(said string) bool { return strings.HasPrefix(said, "waiting") }

// wantWhole opens a store after a kill and wants it to be sound.
func wantWhole(t *testing.T, f *fixture) *fixture {
	t.Helper()
	g := f.again(t)
	if g.at.Engine == dbtest.SQLite {
		verdict, err := sqldb.One(t.Context(), g.database.Queries(), sqldb.Value[string], `PRAGMA integrity_check`)
		if err != nil || verdict != "ok" {
			t.Errorf("integrity: %s, %v", verdict, err)
		}
	}
	return g
}

func TestKilledImportIsAllOrNothing(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		before := f.mustExport(t, false)
		whole := prepared(t, dbtest.New(t, dbtest.SQLite))
		whole.mustImport(t, before)
		whole.mustImport(t, killedImport())
		after := whole.mustExport(t, false)
		for step := range dbtest.Steps(f.at.Engine) {
			if step > 20 {
				t.Fatal("the import takes more steps than expected")
			}
			said := killed(t, f.at, "import", step, waiting)
			if len(said) != 1 {
				t.Fatalf("step %d: said %q", step, said)
			}
			last := said[0] == "waiting: done"
			want := map[bool]string{false: before, true: after}[last]
			if got := wantWhole(t, f).mustExport(t, false); got != want {
				t.Fatalf("killed at step %d (%s): %s", step, said[0], firstDifference(want, got))
			}
			if last && step < 6 {
				t.Errorf("the import has %d steps only: it was never killed in its transaction", step)
			}
			if last {
				break
			}
		}
	})
}

func TestKilledKeyCreateIsAllOrNothing(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		for step := range dbtest.Steps(f.at.Engine) {
			said := killed(t, f.at, "key", step, waiting)
			if len(said) != 1 || step > 20 {
				t.Fatalf("step %d: said %q", step, said)
			}
			last := said[0] == "waiting: done"
			g := wantWhole(t, f)
			keys, audits := g.rows(t, "keys"), strings.Count(strings.Join(g.audits(t), "\n"), "key.create")
			if want := map[bool]int64{true: 1}[last]; keys != want || int64(audits) != want {
				t.Errorf("killed at step %d (%s): %d keys, %d lines of audit, want %d", step, said[0], keys, audits, want)
			}
			if last {
				break
			}
		}
	})
}

// What was acknowledged is there, and at most the one that was under way besides.
func TestKeysOutliveTheProcessThatMadeThem(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
		for round := range 5 {
			t.Run(engine+" "+text(round), func(t *testing.T) {
				f := prepared(t, twoShopsStore.New(t, engine))
				heard := 0
				acknowledged := len(killed(t, f.at, "keys", 0, func(string) bool { heard++; return heard > 3*round }))
				if got := wantWhole(t, f).rows(t, "keys"); got < int64(acknowledged) || got > int64(acknowledged)+1 {
					t.Errorf("%d keys were acknowledged, %d are there", acknowledged, got)
				}
			})
		}
	}
}

func TestKilledRekeyIsAllOrNothing(t *testing.T) {
	t.Parallel()
	twoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
		r := newRekeyable(t, place)
		for step := range dbtest.Steps(place.Engine) {
			said := killed(t, place, "rekey", step, waiting)
			if len(said) != 1 || step > 20 {
				t.Fatalf("step %d: said %q", step, said)
			}
			g := wantWhole(t, r.fixture)
			r.wantServed(t, g)
			r.wantShown(t, g, "")
			if said[0] == "waiting: done" {
				break
			}
		}
	})
}
