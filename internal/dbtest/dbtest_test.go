package dbtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestNothingIsLeftForTheNextTest(t *testing.T) {
	var left *pgx.Conn
	for range 3 {
		t.Run("inner", func(t *testing.T) {
			db := New(t, Postgres)
			execute(t, db.URL, "CREATE TABLE notes (id bigint); CREATE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'; CREATE SEQUENCE s")
			if left != nil && left.Ping(context.Background()) == nil {
				t.Error("a connection of the test before is alive")
			}
			var err error
			if left, err = pgx.Connect(context.Background(), db.URL); err != nil { // and does not close it
				t.Fatal(err)
			}
			must.Get(left.Exec(context.Background(), "BEGIN; LOCK TABLE notes"))(t)
		})
	}
}

// What one test changes in its copy no other copy has, in the database and in the folder.
func TestCopiesOfATemplateAreFilledOnceAndIndependent(t *testing.T) {
	fills := map[string]int{}
	template := NewTemplate(func(db DB) error {
		fills[db.Engine]++
		if err := os.MkdirAll(filepath.Join(db.Dir, "folder"), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(db.Dir, "folder", "file"), []byte("as filled"), 0o600); err != nil || db.Engine == SQLite {
			return err
		}
		return run(db.URL, "CREATE TABLE notes (id bigint)")
	})
	for _, engine := range []string{SQLite, Postgres, SQLite, Postgres} {
		t.Run(engine, func(t *testing.T) {
			db := template.New(t, engine)
			path := filepath.Join(db.Dir, "folder", "file")
			if content, err := os.ReadFile(path); err != nil || string(content) != "as filled" {
				t.Fatalf("%q, %v", content, err)
			}
			must.Do(t, os.WriteFile(path, []byte("changed"), 0o600))
			if db.Engine == Postgres {
				execute(t, db.URL, "INSERT INTO notes VALUES (1); ALTER TABLE notes ADD UNIQUE (id)")
				execute(t, db.URL, "DROP TABLE notes")
			}
		})
	}
	if fills[SQLite] != 1 || fills[Postgres] > 1 && os.Getenv("COUNTERSIGN_TEST_POSTGRES") == "" {
		t.Errorf("filled %v times", fills)
	}
}

// initdb runs once for all test processes: its result is copied.
func TestServersAreCopiesOfOneCluster(t *testing.T) {
	if cache() == "" {
		Skip(t, errors.New("no folder for a cluster that only its owner can write"))
	}
	identifier := func(db DB) (id int64) {
		t.Helper()
		conn := must.Get(pgx.Connect(t.Context(), db.URL))(t)
		defer conn.Close(t.Context())
		must.Do(t, conn.QueryRow(t.Context(), "SELECT system_identifier FROM pg_control_system()").Scan(&id))
		return id
	}
	if a, b := identifier(Alone(t)), identifier(Alone(t)); a != b {
		t.Errorf("two servers have the identifiers %d and %d", a, b)
	}
}

func TestDatabasesOfAServerThatWasGivenAreDropped(t *testing.T) {
	own := New(t, Postgres).URL // its server plays the one that was given
	t.Setenv("COUNTERSIGN_TEST_POSTGRES", own)
	var url string
	t.Run("inner", func(t *testing.T) { url = New(t, Postgres).URL })
	if url == own {
		t.Error("the database that was given was used itself")
	}
	if _, err := pgx.Connect(context.Background(), url); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("connecting to the database of an ended test: %v", err)
	}
}

// The inner process is this test binary: it starts a private server and is
// killed. A connection that ends by itself shows that the server followed.
func TestServerEndsWithItsProcess(t *testing.T) {
	if os.Getenv("DBTEST_INNER") == "1" {
		s, err := private()
		if err != nil {
			os.Stdout.WriteString("none\n")
			os.Exit(0)
		}
		os.Stdout.WriteString(s.url + "\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed; select {} would be a deadlock
		os.Exit(0)
	}
	Long(t)
	inner := exec.Command(os.Args[0], "-test.run=^TestServerEndsWithItsProcess$")
	inner.Env = append(os.Environ(), "DBTEST_INNER=1")
	input := must.Get(inner.StdinPipe())(t)
	defer input.Close()
	output := must.Get(inner.StdoutPipe())(t)
	must.Do(t, inner.Start())
	url, err := bufio.NewReader(output).ReadString('\n')
	if err != nil || url == "none\n" {
		Skip(t, fmt.Errorf("no private server on this machine: %q, %v", url, err))
	}
	conn := must.Get(pgx.Connect(context.Background(), strings.TrimSpace(url)))(t)
	must.Do(t, inner.Process.Kill())
	_ = inner.Wait()
	if _, err := conn.WaitForNotification(context.Background()); err == nil {
		t.Error("the server sent something although it should have ended")
	}
}

func TestASkippedTestIsVisible(t *testing.T) {
	if os.Getenv("DBTEST_INNER") == "1" {
		Skip(t, errors.New("a reason"))
	}
	inner := exec.Command(os.Args[0], "-test.run=^TestASkippedTestIsVisible$")
	inner.Env = append(os.Environ(), "DBTEST_INNER=1", "COUNTERSIGN_REQUIRE_ALL=")
	out, err := inner.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\ntesting: warning: no tests to run\n") {
		t.Errorf("go test does not see in %q, %v, that a test was skipped", out, err)
	}
}

func TestTheEndOfASessionIsNotAHeldCommit(t *testing.T) {
	db := Alone(t)
	conn := must.Get(pgx.Connect(t.Context(), db.URL))(t)
	must.Get(conn.Exec(t.Context(), "BEGIN; CREATE TEMPORARY TABLE staged (line text); COMMIT"))(t)
	db.HoldCommits(t)
	must.Do(t, conn.Close(t.Context()))
	dropping := 0
	look := must.Get(pgx.Connect(t.Context(), db.URL))(t)
	defer look.Close(context.Background()) //nolint:errcheck // only read
	for dropping == 0 {                    // the session drops its table after its client has gone
		must.Do(t, look.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&dropping))
	}
	expect.Equalf(t, db.HeldCommits(t), 0, "commits wait")
	db.ReleaseCommits(t)
}
