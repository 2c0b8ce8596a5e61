package storetest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
)

// envAct names what a process does that is killed.
const envAct = "COUNTERSIGN_TEST_ACT"

// Act is something that a process does until a test kills it. It calls step between its steps.
type Act func(ctx context.Context, s *store.Store, step func()) error

// Main is TestMain of a package whose tests kill processes. Their test binary is also the program
// that is killed: it acts on a store, tells on its standard output how far it has come, and waits
// at the point where it is to be killed. Every question for the time is a step as well. The store
// is prepared before any act but "migrate".
func Main(m *testing.M, acts map[string]Act) {
	dbtest.Main(m, func(step string, place dbtest.DB) error { return beKilled(os.Getenv(envAct), acts, step, place) })
}

// beKilled does one act. The process stops at the step with a number, or when it has done
// everything; it returns only an error.
func beKilled(name string, acts map[string]Act, number string, place dbtest.DB) error {
	ctx := context.Background()
	step, err := dbtest.StopAt(number)
	if err != nil {
		return err
	}
	act, known := acts[name]
	if !known {
		return fmt.Errorf("no act %q", name)
	}
	s, err := store.Open(ctx, store.Options{Options: instance.Options{Dir: place.Dir, URL: place.URL, Now: func() time.Time { step(); return Noon }, Progress: func(int64, int64) { step() }}})
	if err != nil {
		return err
	}
	if name != "migrate" {
		if err := s.Prepare(ctx); err != nil {
			return err
		}
	}
	if err := act(ctx, s, step); err != nil {
		return err
	}
	fmt.Println("waiting: done")
	select {}
}

// Killed runs an act in a process of its own and kills that at a step. It returns whether the
// process had done everything, which is to take no more than most steps.
func Killed(t testing.TB, place dbtest.DB, act string, step, most int) (done bool) {
	t.Helper()
	said := KilledWhen(t, place, act, step, func(said string) bool { return strings.HasPrefix(said, "waiting") })
	if len(said) != 1 || step > most {
		t.Fatalf("step %d: said %q", step, said)
	}
	return said[0] == "waiting: done"
}

// KilledWhen runs an act in a process of its own, kills that when reached says so of a line, and
// returns all lines.
func KilledWhen(t testing.TB, place dbtest.DB, act string, step int, reached func(said string) bool) (said []string) {
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

// WantWhole opens a store after a kill and wants it to be sound.
func WantWhole(t testing.TB, f *Fixture) *Fixture {
	t.Helper()
	g := f.Again(t)
	if g.At.Engine == dbtest.SQLite {
		verdict, err := sqldb.One(t.Context(), g.DB().Queries, sqldb.Value[string], `PRAGMA integrity_check`)
		if err != nil || verdict != "ok" {
			t.Errorf("integrity: %s, %v", verdict, err)
		}
	}
	return g
}
