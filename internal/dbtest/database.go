package dbtest

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// The engines, as sqldb names them.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// DB is an empty database of one test. What the test leaves in it goes with it.
type DB struct {
	// Engine is [SQLite] or [Postgres].
	Engine string
	// Dir is an empty folder of the test's own: the data folder of either
	// engine, and where SQLite's file belongs.
	Dir string
	// URL of the PostgreSQL database; empty for SQLite.
	URL string
}

// Engines runs fn on both engines, as the subtests "sqlite" and "postgres". Where neither
// COUNTERSIGN_REQUIRE_ALL=1 nor -run asks for all of a test, it runs on one of them ([Either]): so
// go test ./... is done in half the time, and CI, and whoever works at a test, run everything.
func Engines(t *testing.T, fn func(t *testing.T, db DB)) {
	t.Helper()
	for _, engine := range EnginesOf(t.Name()) {
		t.Run(engine, func(t *testing.T) { fn(t, New(t, engine)) })
	}
}

// Both is Engines for a test that compares the engines: it always runs fn on both.
func Both(t *testing.T, fn func(t *testing.T, db DB)) {
	t.Helper()
	for _, engine := range []string{SQLite, Postgres} {
		t.Run(engine, func(t *testing.T) { fn(t, New(t, engine)) })
	}
}

// EnginesOf returns the engines on which [Engines] runs the test or the case with a name, for a test
// that makes its databases itself.
func EnginesOf(name string) []string {
	if selected := flag.Lookup("test.run"); required() || selected != nil && selected.Value.String() != "" {
		return []string{SQLite, Postgres}
	}
	return []string{either(name)}
}

// AnEngine runs fn on one engine ([Either]), as a subtest with its name. It is for tests of pages and
// handlers: the SQL that they reach is tested on both engines in the service below them.
func AnEngine(t *testing.T, fn func(t *testing.T, db DB)) {
	t.Helper()
	engine := Either(t)
	t.Run(engine, func(t *testing.T) { fn(t, New(t, engine)) })
}

// Either returns an engine for a test or a case of a table: by its name, so that those of a package
// are spread over both. On PostgreSQL, where a test takes several times as long, is a third in CI and
// a sixth elsewhere. It is for rules that no SQL decides. Without PostgreSQL all run on SQLite, which
// one line says.
func Either(t *testing.T) (engine string) { return either(t.Name()) }

func either(name string) (engine string) {
	sum := fnv.New32a()
	sum.Write([]byte(name))
	share := uint32(6)
	if required() {
		share = 3
	}
	if sum.Sum32()%share != 0 || testing.Short() {
		return SQLite
	}
	if os.Getenv("COUNTERSIGN_TEST_POSTGRES") == "" && !required() {
		if _, err := private(); err != nil {
			mark.Do(func() { fmt.Println(noTests) })
			return SQLite
		}
	}
	return Postgres
}

// required is whether nothing may be left out.
func required() bool { return os.Getenv("COUNTERSIGN_REQUIRE_ALL") == "1" }

// New returns an empty database on one engine. It skips the test where there is
// no PostgreSQL.
func New(t testing.TB, engine string) DB {
	t.Helper()
	db := DB{Engine: engine, Dir: TempDir(t)}
	if engine == Postgres {
		s, _ := serverOf(t)
		db.URL = s.database(t, "template1")
	}
	return db
}

// Terminate ends every connection to a PostgreSQL database, as its operator can.
func (db DB) Terminate(t testing.TB) {
	t.Helper()
	execute(t, db.URL, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`)
}

// Clear makes a PostgreSQL database like new while others use it, as one that was
// dropped and made again.
func (db DB) Clear(t testing.TB) {
	t.Helper()
	db.Terminate(t)
	execute(t, db.URL, `DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
}

// private starts at most one private server in this process.
var private = sync.OnceValues(startPrivate)

// database returns a copy of a PostgreSQL database, which lives as long as the test.
func (s *server) database(t testing.TB, like string) string {
	t.Helper()
	url, err := s.create(like)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.drop(url); err != nil {
			t.Errorf("dbtest: %v", err)
		}
	})
	return url
}

// serverOf returns the server that a test uses, and whether it is the private one. It
// skips the test where there is none.
func serverOf(t testing.TB) (s *server, isPrivate bool) {
	t.Helper()
	Long(t)
	if given := os.Getenv("COUNTERSIGN_TEST_POSTGRES"); given != "" {
		if _, err := url.Parse(given); err != nil {
			t.Fatal("COUNTERSIGN_TEST_POSTGRES is not a URL")
		}
		s = &server{url: given}
		t.Cleanup(s.disconnect)
		return s, false
	}
	s, err := private()
	if err != nil {
		Skip(t, fmt.Errorf("no PostgreSQL: %w", err))
	}
	return s, true
}

// newName returns the name of a database that nobody else has.
func newName() string { return "countersign_test_" + strings.ToLower(rand.Text()) }

// at is the URL of another database of a server. The server's URL was parsed before.
func at(server, name string) string {
	u, _ := url.Parse(server)
	u.Path = "/" + name
	return u.String()
}

// nameOf is the name of the database in a URL that at made.
func nameOf(database string) string {
	u, _ := url.Parse(database)
	return strings.TrimPrefix(u.Path, "/")
}

// execute runs statements on a connection of its own.
func execute(t testing.TB, url, statements string) {
	t.Helper()
	if err := run(url, statements); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
}

func run(url, statements string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, statements).ReadAll()
	return err
}
