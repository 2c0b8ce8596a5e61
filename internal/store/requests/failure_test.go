package requests

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/google/go-cmp/cmp"
)

// This test binary is also the program that is killed: it logs calls until then.
func TestMain(m *testing.M) {
	if dir := os.Getenv("COUNTERSIGN_TEST_LOG"); dir != "" {
		logForever(dir, os.Getenv("COUNTERSIGN_TEST_URL"))
	}
	dbtest.Setup()
	os.Exit(m.Run())
}

// logForever prints the id of the last call of each batch once it was written.
func logForever(dir, url string) {
	l := New(Options{See: operatorOnly, Dir: dir, URL: url, Keep: DefaultKeep, Now: time.Now, Log: discard})
	for i := 0; ; i++ {
		number := requestid.First(time.Now()) + requestid.Number(i)
		l.Put(&Entry{Number: number, Workspace: 1, Endpoint: "/api/items/all", Method: "GET", Status: 200})
		if i%100 == 99 {
			l.flush(context.Background())
			if failure := l.Failing(); failure != nil {
				fmt.Println(failure.Err)
				os.Exit(1)
			}
			fmt.Println(number)
		}
	}
}

// A process that is killed while it writes leaves a log with all that was written, which
// another process reads meanwhile, too.
func TestAKilledProcessLeavesItsLog(t *testing.T) {
	engines(t, Keep{}, func(t *testing.T, f *fixture) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "COUNTERSIGN_TEST_LOG="+f.place.Dir, "COUNTERSIGN_TEST_URL="+f.place.URL)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait() //nolint:errcheck // it was killed
		defer cmd.Process.Kill()
		var told []string
		for lines := bufio.NewScanner(out); lines.Scan(); {
			told = append(told, lines.Text())
			if len(told) == 10 {
				if _, err := f.Call(t.Context(), operator, 1, told[9]); err != nil {
					t.Errorf("while it runs: %s: %v", told[9], err)
				}
			}
			if len(told) == 30 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		_ = cmd.Wait()
		for _, id := range told {
			if _, err := f.Call(t.Context(), operator, 1, id); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		if ids := f.ids(t, Filter{Limit: 1000}); len(ids) < 3000 {
			t.Errorf("%d calls are left, want 3000 or more", len(ids))
		}
		after := newFixture(t, f.place, DefaultKeep)
		after.clock.Set(time.Now())
		id := after.put(nil)
		after.flushed(t)
		if _, err := after.Call(t.Context(), operator, 0, id.String()); err != nil {
			t.Error(err)
		}
	})
}

func TestAFullDiskLosesCallsOfTheLogAlone(t *testing.T) {
	f := newFixture(t, dbtest.New(t, dbtest.SQLite), DefaultKeep)
	first := f.put(nil)
	f.flushed(t)
	allow := func(pages int) {
		t.Helper()
		if _, err := f.db.Queries().Exec(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)); err != nil {
			t.Fatal(err)
		}
	}
	allow(1) // no more than there are
	for i := range room {
		f.put(func(e *Entry) { e.Purchase = int64(i) << 30 * 7919 }) // or they would fit into the pages that there are
	}
	f.flush(t.Context())
	if failure := f.Failing(); failure == nil || !strings.Contains(failure.Err.Error(), "disk is full") || !failure.Since.Equal(noon) {
		t.Fatalf("%+v", failure)
	}
	f.clock.Move(time.Minute)
	for range room + 5 {
		f.put(nil)
	}
	f.flush(t.Context())
	s, err := f.State(t.Context(), operator, 0)
	if err != nil || s.Dropped != 5 || s.Failure == nil || !s.Failure.Since.Equal(noon) {
		t.Errorf("%+v, %v", s, err)
	}
	if ids := f.ids(t, Filter{}); len(ids) != 1 || ids[0] != first {
		t.Errorf("meanwhile %v can be read", ids)
	}
	allow(1 << 20)
	f.flushed(t)
	f.clock.Move(countsEvery)
	f.flushed(t)
	if s, err = f.State(t.Context(), operator, 0); err != nil || s.Failure != nil || s.Calls != 2*room+1 ||
		cmp.Diff([]Gap{{noon.Add(time.Minute), noon.Add(time.Minute), 5}}, s.Gaps) != "" {
		t.Errorf("with room again: %+v, %v", s, err)
	}
	if counts, err := f.Counts(t.Context(), operator, CountQuery{Workspace: 1, From: noon, To: noon.Add(time.Hour), By: ByResult}); err != nil || len(counts) != 1 || counts[0].Valid != 2*room+1 {
		t.Errorf("%+v, %v: a batch that is tried again is counted once", counts, err)
	}
}

func TestTheTablesOfTheLogHaveItsPrefix(t *testing.T) {
	f := newFixture(t, dbtest.New(t, dbtest.Postgres), DefaultKeep)
	f.put(nil)
	f.flushed(t)
	names, err := sqldb.List(t.Context(), f.db.Queries(), sqldb.Value[string], `SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' AND NOT starts_with(tablename, $1) ORDER BY tablename`, "request")
	if diff := cmp.Diff([]string{"changes", "countersign_versions", "meta"}, names); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestAFileThatIsGoneIsMadeAgain(t *testing.T) {
	f := newFixture(t, dbtest.New(t, dbtest.SQLite), DefaultKeep)
	f.put(nil)
	f.flushed(t)
	for range 2 {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(filepath.Join(f.place.Dir, DatabaseName+suffix)); err != nil {
				t.Fatal(err)
			}
		}
		f.clock.Move(reopenEvery)
		id := f.put(nil)
		f.flushed(t)
		if ids := f.ids(t, Filter{Key: 2}); len(ids) != 1 || ids[0] != id {
			t.Errorf("%v can be read, want %v", ids, id)
		}
	}
}

func TestTheLogGoesOnAfterItsConnectionsWereEnded(t *testing.T) {
	f := newFixture(t, dbtest.New(t, dbtest.Postgres), DefaultKeep)
	f.put(nil)
	f.flushed(t)
	f.place.Terminate(t)
	f.put(nil)
	for range 3 { // one for each attempt that may still meet a dead connection
		f.flush(t.Context())
		_, _ = f.State(t.Context(), operator, 0)
	}
	if ids := f.ids(t, Filter{}); len(ids) != 2 || f.Failing() != nil || f.Dropped() != 0 {
		t.Errorf("%v, %v", ids, f.Failing())
	}
}

// Two servers write blocks of the same time and add to the same counts, and neither loses a call.
func TestTwoServersWriteOneLog(t *testing.T) {
	f := newFixture(t, dbtest.New(t, dbtest.Postgres), DefaultKeep)
	other := newFixture(t, f.place, DefaultKeep)
	other.last = 1 << 19
	f.flushed(t)
	for range 10 {
		var work sync.WaitGroup
		for _, server := range []*fixture{f, other} {
			work.Go(func() {
				for range 20 {
					server.put(nil)
				}
				server.flush(t.Context())
			})
		}
		work.Wait()
		f.clock.Move(24 * time.Hour)
		other.clock.Move(24 * time.Hour)
	}
	f.flushed(t)
	other.flushed(t)
	if ids := f.ids(t, Filter{Limit: 1000}); len(ids) != 400 || f.Dropped()+other.Dropped() != 0 {
		t.Errorf("%d calls are logged, want 400; %d and %d were dropped", len(ids), f.Dropped(), other.Dropped())
	}
	counts, err := f.Counts(t.Context(), operator, CountQuery{Workspace: 1, From: noon, To: noon.Add(20 * 24 * time.Hour), By: ByResult})
	if err != nil || len(counts) != 1 || counts[0].Valid != 400 {
		t.Errorf("%+v, %v", counts, err)
	}
}

func TestGatheredCountsAreWrittenAtTheEnd(t *testing.T) {
	engines(t, DefaultKeep, func(t *testing.T, f *fixture) {
		counted := func() int {
			t.Helper()
			counts, err := f.Counts(t.Context(), operator, CountQuery{Workspace: 1, From: noon, To: noon.Add(time.Hour), By: ByItem})
			if err != nil {
				t.Fatal(err)
			}
			return len(counts)
		}
		f.put(nil)
		f.flushed(t)
		for i := range fewCounts + 1 {
			f.put(func(e *Entry) { e.Item = int64(100 + i) })
		}
		f.flushed(t)
		if n := counted(); n != 1 {
			t.Errorf("%d items are counted at once", n)
		}
		ended, stop := context.WithCancel(t.Context())
		stop()
		f.Run(ended)
		if n := counted(); n != fewCounts+2 || f.Failing() != nil {
			t.Errorf("%d items are counted, %v", n, f.Failing())
		}
	})
}

func TestAPanicOfTheLogIsContained(t *testing.T) {
	f := newFixture(t, dbtest.New(t, dbtest.SQLite), DefaultKeep)
	f.put(nil)
	f.counts.sums = nil // to which nothing can be added
	f.flushSafely(t.Context())
	if f.Failing() == nil || f.Dropped() != 1 {
		t.Errorf("%v, %d dropped", f.Failing(), f.Dropped())
	}
	id := f.put(nil)
	f.flushSafely(t.Context())
	if ids := f.ids(t, Filter{}); len(ids) != 1 || ids[0] != id || f.Failing() != nil {
		t.Errorf("%v, %v", ids, f.Failing())
	}
}

func TestADamagedFileIsFoundAndToldOnce(t *testing.T) {
	for name, at := range map[string]int64{"its beginning": 0, "a page": 4096} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, dbtest.New(t, dbtest.SQLite), Keep{})
			f.put(func(*Entry) {})
			f.flushed(t)
			if err := f.Check(t.Context(), true); err != nil {
				t.Errorf("whole: %v", err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			file, err := os.OpenFile(f.path(), os.O_WRONLY, 0)
			if err == nil {
				_, err = file.WriteAt(bytes.Repeat([]byte("x"), 4096), at)
				err = errors.Join(err, file.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			f.options.Log = slog.New(slog.NewTextHandler(&log, nil))
			if err := f.Check(t.Context(), true); !fault.HasCode(err, sqldb.CodeDamaged) {
				t.Errorf("damaged: %v", err)
			}
			for range 3 {
				f.put(func(*Entry) {})
				f.flush(t.Context())
			}
			if text := log.String(); strings.Contains(text, "writes are off until") || strings.Count(text, "can't be written") != 1 {
				t.Error(text)
			}
			if err := f.Check(t.Context(), true); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("health says %v", err)
			}
			if _, err := f.Calls(t.Context(), operator, Filter{}); at == 0 && !fault.IsUnavailable(err) {
				t.Errorf("who reads the log is told %v", err)
			}
		})
	}
}
