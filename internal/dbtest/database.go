package dbtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
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

// Engines runs fn twice, as the subtests "sqlite" and "postgres".
func Engines(t *testing.T, fn func(t *testing.T, db DB)) {
	t.Helper()
	for _, engine := range []string{SQLite, Postgres} {
		t.Run(engine, func(t *testing.T) { fn(t, New(t, engine)) })
	}
}

// New gives an empty database on one engine. It skips the test where there is
// no PostgreSQL.
func New(t testing.TB, engine string) DB {
	t.Helper()
	db := DB{Engine: engine, Dir: t.TempDir()}
	if engine == Postgres {
		db.URL = database(t)
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
	empty(t, db.URL)
}

// private starts at most one private server in this process.
var private = sync.OnceValues(startPrivate)

// database gives an empty database for the time of a test.
func database(t testing.TB) string {
	t.Helper()
	Long(t)
	if given := os.Getenv("COUNTERSIGN_TEST_POSTGRES"); given != "" {
		url := create(t, given)
		t.Cleanup(func() { drop(t, given, url) })
		return url
	}
	started, err := private()
	if err != nil {
		Skip(t, fmt.Errorf("no PostgreSQL: %w", err))
	}
	url := started.take()
	if url == "" {
		url = create(t, started.url)
	}
	t.Cleanup(func() {
		empty(t, url)
		started.giveBack(url)
	})
	return url
}

// create makes an empty database and returns its URL.
func create(t testing.TB, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("COUNTERSIGN_TEST_POSTGRES is not a URL")
	}
	random := make([]byte, 8)
	rand.Read(random) // never returns an error
	name := "countersign_test_" + hex.EncodeToString(random)
	execute(t, server, "CREATE DATABASE "+name)
	u.Path = "/" + name
	return u.String()
}

func drop(t testing.TB, server, database string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, server, "DROP DATABASE "+strings.TrimPrefix(u.Path, "/")+" WITH (FORCE)")
}

// empty makes a database like new. That is many times faster than a new one.
func empty(t testing.TB, url string) {
	t.Helper()
	execute(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid();
		DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
}

// execute runs statements on a connection of its own.
func execute(t testing.TB, url, statements string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.PgConn().Exec(ctx, statements).ReadAll(); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
}
