package sqldb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	lib "modernc.org/sqlite/lib"
)

func wantUnavailable(t testing.TB, err error) {
	t.Helper()
	var ours *countersign.Error
	if !errors.As(err, &ours) || ours.Kind != countersign.KindUnavailable {
		t.Errorf("error %v (%T), want one of kind Unavailable", err, err)
	} else if ours.RetryAfter <= 0 {
		t.Errorf("error %v does not say when to try again", err)
	}
}

func TestRowThatExists(t *testing.T) {
	cases := []struct{ name, statement string }{
		{"the primary key is taken", `INSERT INTO marks (id, name) VALUES (1, 'b')`},
		{"a unique value is taken", `INSERT INTO marks (id, name) VALUES (2, 'a')`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
				db := open(t, optionsOf(at))
				exec(t, db, `CREATE TABLE marks (id bigint PRIMARY KEY, name text UNIQUE)`)
				exec(t, db, `INSERT INTO marks (id, name) VALUES (1, 'a')`)
				if _, err := db.Queries().Exec(t.Context(), c.statement); !errors.Is(err, ErrExists) {
					t.Errorf("error %v, want ErrExists", err)
				}
			})
		})
	}
}

func TestOtherConstraintsAreNotErrExists(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := open(t, optionsOf(at))
		exec(t, db, `CREATE TABLE parents (id bigint PRIMARY KEY)`)
		exec(t, db, `CREATE TABLE marks (id bigint PRIMARY KEY CHECK (id > 0), name text NOT NULL, parent bigint REFERENCES parents)`)
		for _, statement := range []string{
			`INSERT INTO marks (id, name) VALUES (0, 'a')`,
			`INSERT INTO marks (id, name) VALUES (1, NULL)`,
			`INSERT INTO marks (id, name, parent) VALUES (1, 'a', 5)`,
		} {
			_, err := db.Queries().Exec(t.Context(), statement)
			if err == nil || errors.Is(err, ErrExists) {
				t.Errorf("%s: %v", statement, err)
			}
		}
	})
}

func TestNoRowIsErrNotFound(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		if _, err := One(t.Context(), db.Queries(), Value[int64], `SELECT id FROM notes`); !errors.Is(err, ErrNotFound) {
			t.Errorf("One: %v, want ErrNotFound", err)
		}
		var id int64
		if err := db.Lookup(`SELECT id FROM notes WHERE `+anyNumber+` AND id = $2`).Row(t.Context(), 1, 1, &id); !errors.Is(err, ErrNotFound) {
			t.Errorf("Lookup: %v, want ErrNotFound", err)
		}
	})
}

func TestFullDiskStopsWritesAloneUntilThereIsRoom(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	pages := count(t, Queries{db: &DB{shared: db.shared, read: db.write}}, `PRAGMA page_count`)
	limit := func(n int64) {
		t.Helper()
		count(t, Queries{db: &DB{shared: db.shared, read: db.write}}, fmt.Sprintf(`PRAGMA max_page_count = %d`, n))
	}
	big := strings.Repeat("x", 50_000)
	write := func(id int64) error {
		return db.Tx(t.Context(), func(q Queries) error {
			_, err := q.Exec(t.Context(), `INSERT INTO notes (id, text) VALUES ($1, $2)`, id, big)
			return err
		})
	}
	limit(pages + 2)
	wantUnavailable(t, write(1))
	if got := count(t, db.Queries(), `SELECT count(*) FROM notes`); got != 0 {
		t.Errorf("%d notes while the disk is full, want 0", got)
	}
	limit(pages + 1000)
	if err := write(1); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestReadOnlyDatabase(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		migrated(t, at)
		o := optionsOf(at, twoSteps())
		if at.Engine == dbtest.Postgres {
			o.URL = withParam(t, at.URL, "default_transaction_read_only", "on")
		}
		db := open(t, o)
		if at.Engine == dbtest.SQLite {
			exec(t, db, `PRAGMA query_only = 1`)
		}
		wantUnavailable(t, db.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) }))
		if got := count(t, db.Queries(), `SELECT count(*) FROM notes`); got != 0 {
			t.Errorf("%d notes", got)
		}
	})
}

func TestWriterThatWaitsTooLongIsToldToComeBack(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		first := migrated(t, at)
		o := optionsOf(at, twoSteps())
		if at.Engine == dbtest.Postgres {
			o.URL = withParam(t, at.URL, "lock_timeout", "20") // milliseconds
		}
		second := open(t, o)
		if at.Engine == dbtest.SQLite {
			second.limits.begin = 20 * time.Millisecond
		}
		err := first.Tx(t.Context(), func(q Queries) error {
			if err := addNote(t.Context(), q, 1); err != nil {
				return err
			}
			wantUnavailable(t, second.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) }))
			count(t, second.Queries(), `SELECT count(*) FROM notes`)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 2) }); err != nil {
			t.Errorf("after the first writer: %v", err)
		}
	})
}

func TestFailedFsyncStopsWritesUntilARestart(t *testing.T) {
	for _, code := range []int{lib.SQLITE_IOERR_FSYNC, lib.SQLITE_IOERR_DIR_FSYNC} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			at := dbtest.New(t, dbtest.SQLite)
			db := migrated(t, at)
			wantUnavailable(t, db.wrapSQLite(errors.New("disk I/O error"), code))
			ran := false
			wantUnavailable(t, db.Tx(t.Context(), func(Queries) error { ran = true; return nil }))
			wantUnavailable(t, db.Migrate(t.Context()))
			if ran {
				t.Error("a transaction was begun after the failed fsync")
			}
			count(t, db.Queries(), `SELECT count(*) FROM notes`)
			restarted := open(t, optionsOf(at, twoSteps()))
			if err := restarted.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) }); err != nil {
				t.Errorf("after a restart: %v", err)
			}
		})
	}
}

func TestSQLiteCodes(t *testing.T) {
	cases := []struct {
		name string
		code int
		off  bool // writes are off afterwards
	}{
		{"an I/O error of a write says come back", lib.SQLITE_IOERR_WRITE, false},
		{"a failed read says come back", lib.SQLITE_IOERR_READ, false},
		{"a snapshot that is too old says come back", lib.SQLITE_BUSY_SNAPSHOT, false},
		{"a database that was moved says come back", lib.SQLITE_READONLY_DBMOVED, false},
		{"a file that can't be opened says come back", lib.SQLITE_CANTOPEN, false},
		{"a full disk says come back", lib.SQLITE_FULL, false},
		{"a failed fsync stops writes", lib.SQLITE_IOERR_FSYNC, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			db := open(t, optionsOf(dbtest.New(t, dbtest.SQLite)))
			wantUnavailable(t, db.wrapSQLite(errors.New("from the driver"), c.code))
			if off := db.writable() != nil; off != c.off {
				t.Errorf("writes off: %t, want %t", off, c.off)
			}
		})
	}
}

func TestPostgresThatCannotBeReached(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // accepts nobody: a server that does not answer
	cases := []struct{ name, url string }{
		{"the connection is refused", "postgres://me:geheim@127.0.0.1:1/shop"},
		{"the server does not answer", "postgres://me:geheim@" + listener.Addr().String() + "/shop?connect_timeout=1"},
		{"the host has no address", "postgres://me:geheim@countersign.invalid/shop?connect_timeout=1"},
		{"the database does not exist", withPath(t, at.URL, "/countersign_no_such_database")},
		{"the user may not sign in", withUser(t, at.URL, url.UserPassword("countersign_nobody", "geheim"))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			db := open(t, Options{URL: c.url, Schemas: []Schema{twoSteps()}})
			err := db.Ping(t.Context())
			wantUnavailable(t, err)
			wantNoPassword(t, err)
			if strings.Contains(c.url, "connect_timeout") {
				return // one second for every attempt
			}
			_, err = db.State(t.Context())
			wantUnavailable(t, err)
			wantNoPassword(t, err)
			wantUnavailable(t, db.Migrate(t.Context()))
			wantUnavailable(t, db.Tx(t.Context(), func(Queries) error { return nil }))
			wantUnavailable(t, db.Snapshot(t.Context(), func(Queries) error { return nil }))
		})
	}
}

func TestMalformedURLIsAnErrorWithoutTheURL(t *testing.T) {
	for _, text := range []string{
		"postgres://me:geheim@[::1/shop", "postgres://me:geheim@host:port/shop", "postgres://me:geheim@host/shop?sslmode=odd",
		"geheim", "me:geheim@host", "postgres://me:ge%zzheim@host/shop",
	} {
		_, err := Open(t.Context(), Options{URL: text})
		var ours *countersign.Error
		if !errors.As(err, &ours) || ours.Kind != countersign.KindInvalid {
			t.Errorf("%s: %v, want one of kind Invalid", text, err)
		}
		wantNoPassword(t, err)
	}
}

func TestServerThatGoesAwayDuringAQuery(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		away func(*dbtest.Proxy, dbtest.DB)
	}{
		{"the connection breaks", func(p *dbtest.Proxy, _ dbtest.DB) { p.Cut() }},
		{"the operator ends the connection", func(_ *dbtest.Proxy, at dbtest.DB) { at.Terminate(t) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at := dbtest.New(t, dbtest.Postgres)
			proxy := dbtest.NewProxy(t, at)
			db := open(t, Options{URL: proxy.URL})
			err := db.Snapshot(t.Context(), func(q Queries) error {
				return Each(t.Context(), q, Value[int64], func(n int64) error {
					if n > 1 {
						return nil
					}
					c.away(proxy, at)
					return nil
				}, `SELECT g FROM generate_series(1, 5000000) g`)
			})
			wantUnavailable(t, err)
			if err := db.Ping(t.Context()); c.name != "the connection breaks" && err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// A network that swallows everything breaks no connection by itself.
func TestServerThatStopsAnswering(t *testing.T) {
	t.Parallel()
	reads := map[string]func(*DB) error{
		"one row": func(db *DB) error {
			_, err := One(t.Context(), db.Queries(), Value[int64], `SELECT count(*) FROM notes`)
			return err
		},
		"a list": func(db *DB) error {
			_, err := List(t.Context(), db.Queries(), Value[int64], `SELECT id FROM notes`)
			return err
		},
		"a look-up": func(db *DB) error {
			var n int64
			return db.Lookup(`SELECT count(*) FROM notes WHERE `+anyNumber+` AND id >= $2`).Row(t.Context(), 1, 0, &n)
		},
		"a sign of life": func(db *DB) error { return db.Ping(t.Context()) },
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			at := dbtest.New(t, dbtest.Postgres)
			migrated(t, at)
			proxy := dbtest.NewProxy(t, at)
			db := open(t, Options{URL: proxy.URL})
			if err := read(db); err != nil {
				t.Fatal(err)
			}
			db.queryTimeout, db.readTimeout = 50*time.Millisecond, 50*time.Millisecond
			proxy.Freeze()
			wantUnavailable(t, read(db))
			proxy.Restore()
			db.queryTimeout, db.readTimeout = time.Minute, time.Minute
			if err := read(db); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// A caller that gives up is not a fault of the database.
func TestCallerThatGivesUp(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		ctx, cancel := context.WithCancel(t.Context())
		slow := `SELECT n FROM (WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000000000)
			SELECT n FROM numbers) numbers`
		err := Each(ctx, db.Queries(), Value[int64], func(int64) error { cancel(); return nil }, slow)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		if err := db.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// wantNoPassword looks into an error and everything it wraps.
func wantNoPassword(t testing.TB, err error) {
	t.Helper()
	for _, format := range []string{"%v", "%+v", "%#v"} {
		if strings.Contains(fmt.Sprintf(format, err), "geheim") {
			t.Errorf("the error repeats the password: "+format, err)
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		wantNoPassword(t, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			wantNoPassword(t, one)
		}
	}
}

func changeURL(t testing.TB, text string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

func withParam(t testing.TB, text, name, value string) string {
	return changeURL(t, text, func(u *url.URL) {
		query := u.Query()
		query.Set(name, value)
		u.RawQuery = query.Encode()
	})
}

func withPath(t testing.TB, text, path string) string {
	return changeURL(t, text, func(u *url.URL) { u.Path = path })
}

func withUser(t testing.TB, text string, user *url.Userinfo) string {
	return changeURL(t, text, func(u *url.URL) { u.User = user })
}

func TestAFullDiskOfACopyIsNotOneOfTheDatabase(t *testing.T) {
	db, other := migrated(t, dbtest.New(t, dbtest.SQLite)), migrated(t, dbtest.New(t, dbtest.SQLite))
	writer := Queries{db: &DB{shared: other.shared, read: other.write}}
	count(t, writer, fmt.Sprintf(`PRAGMA max_page_count = %d`, count(t, writer, `PRAGMA page_count`)))
	conn, err := other.write.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, full := conn.ExecContext(t.Context(), `INSERT INTO notes (id, text) VALUES (1, $1)`, strings.Repeat("x", 50_000))
	err = db.copyError("/mnt/backups/store.db.copy-1", full)
	wantUnavailable(t, err)
	if text := fault.Message(err); !strings.Contains(text, "/mnt/backups") || !strings.Contains(text, "disk is full") {
		t.Errorf("message %q", text)
	}
	if s := db.Status(); s.WriteFault != "" || s.WritesOff != "" {
		t.Errorf("the database: %+v", s)
	}
}

func TestTheStatusNamesAFullDiskUntilAWriteSucceeds(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	writer := Queries{db: &DB{shared: db.shared, read: db.write}}
	pages := count(t, writer, `PRAGMA page_count`)
	count(t, writer, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+2))
	wantUnavailable(t, db.Tx(t.Context(), func(q Queries) error {
		_, err := q.Exec(t.Context(), `INSERT INTO notes (id, text) VALUES (1, $1)`, strings.Repeat("x", 50_000))
		return err
	}))
	if s := db.Status(); s.WriteFault != FaultFull || s.WriteFaultCounts != [...]int64{1, 0} || s.WritesOff != "" {
		t.Errorf("full: %+v", s)
	}
	count(t, writer, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+1000))
	if _, err := One(t.Context(), db.Queries(), Value[int64], `SELECT count(*) FROM notes`); err != nil || db.Status().WriteFault != FaultFull {
		t.Errorf("a read ends it: %v", err)
	}
	db.ProbeWrites(t.Context())
	if s := db.Status(); s.WriteFault != "" || s.WriteFaultCounts != [...]int64{1, 0} {
		t.Errorf("with room: %+v", s)
	}
	commits := count(t, db.Queries(), `SELECT CAST(value AS bigint) FROM meta WHERE name = 'commits'`)
	db.ProbeWrites(t.Context())
	if got := count(t, db.Queries(), `SELECT CAST(value AS bigint) FROM meta WHERE name = 'commits'`); got != commits {
		t.Error("it probes without a fault")
	}
}
