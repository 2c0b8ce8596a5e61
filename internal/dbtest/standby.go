package dbtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Alone returns an empty database on a private PostgreSQL server that no other test uses,
// so that the server's own settings may be changed. It skips the test where there are no
// programs of PostgreSQL.
func Alone(t testing.TB) DB {
	t.Helper()
	Long(t)
	s, err := startPrivate()
	if err != nil {
		Skip(t, fmt.Errorf("no PostgreSQL: %w", err))
	}
	t.Cleanup(func() { s.alive.Close() })
	db := DB{Engine: Postgres, Dir: TempDir(t), URL: s.url}
	db.Set(t, "synchronous_commit", "on")
	return db
}

// Set changes a setting of the server, which has to be of [Alone].
func (db DB) Set(t testing.TB, name, value string) {
	t.Helper()
	execute(t, db.URL, "ALTER SYSTEM SET "+name+" = '"+value+"'")
	execute(t, db.URL, "SELECT pg_reload_conf()")
}

// HoldCommits makes every commit from here on wait for a standby that does not exist.
// The server has to be of [Alone].
func (db DB) HoldCommits(t testing.TB) {
	t.Helper()
	db.Set(t, "synchronous_standby_names", "nobody")
	for !db.commitWaits(t) { // the server takes the setting up after a while
	}
}

// ReleaseCommits ends what HoldCommits began, as a standby that comes.
func (db DB) ReleaseCommits(t testing.TB) {
	t.Helper()
	db.Set(t, "synchronous_standby_names", "")
}

// commitWaits reports whether a commit waits for a standby.
func (db DB) commitWaits(t testing.TB) bool {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		execute(t, db.URL, "BEGIN; SELECT pg_logical_emit_message(true, 'test', 'a commit'); COMMIT")
	}()
	for {
		select {
		case <-ended:
			return false
		default:
		}
		if db.HeldCommits(t) > 0 {
			db.CancelCommits(t)
			<-ended
			return true
		}
	}
}

// AwaitHeldCommits returns when as many commits wait for a standby.
func (db DB) AwaitHeldCommits(t testing.TB, n int) {
	t.Helper()
	for db.HeldCommits(t) != n {
	}
}

// heldCommits are the sessions whose commit waits for a standby. A session that ends waits
// for one too when it drops its temporary tables; it is not active then, whatever its last query was.
const heldCommits = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND state = 'active'"

// HeldCommits counts the commits that wait for a standby.
func (db DB) HeldCommits(t testing.TB) (n int) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, db.URL)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, "SELECT count(*) "+heldCommits).Scan(&n); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return n
}

// CancelCommits ends the wait of all commits for a standby, as an operator can.
func (db DB) CancelCommits(t testing.TB) {
	t.Helper()
	execute(t, db.URL, "SELECT pg_cancel_backend(pid) "+heldCommits)
}
