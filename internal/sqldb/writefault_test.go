package sqldb

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	lib "modernc.org/sqlite/lib"
)

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
	expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), 0, "notes while the disk is full")
	limit(pages + 1000)
	expect.NoErrorf(t, write(1), "with room again")
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
			expect.NoErrorf(t, restarted.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) }), "after a restart")
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
		{"a disk without room for the index says come back", lib.SQLITE_IOERR_SHMSIZE, false},
		{"a failed fsync stops writes", lib.SQLITE_IOERR_FSYNC, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			db := open(t, optionsOf(dbtest.New(t, dbtest.SQLite)))
			err := db.wrapSQLite(errors.New("from the driver"), c.code)
			wantUnavailable(t, err)
			if full := c.code == lib.SQLITE_FULL || c.code == lib.SQLITE_IOERR_SHMSIZE; fault.HasCode(err, CodeFull) != full || (db.Status().WriteFault == FaultFull) != full {
				t.Errorf("%v; a full disk: %t", err, full)
			}
			if off := db.writable() != nil; off != c.off {
				t.Errorf("writes off: %t, want %t", off, c.off)
			}
		})
	}
}

func TestAFullDiskOfACopyIsNotOneOfTheDatabase(t *testing.T) {
	db, other := migrated(t, dbtest.New(t, dbtest.SQLite)), migrated(t, dbtest.New(t, dbtest.SQLite))
	writer := Queries{db: &DB{shared: other.shared, read: other.write}}
	count(t, writer, fmt.Sprintf(`PRAGMA max_page_count = %d`, count(t, writer, `PRAGMA page_count`)))
	conn := must.Get(other.write.Conn(t.Context()))(t)
	defer conn.Close()
	_, full := conn.ExecContext(t.Context(), `INSERT INTO notes (id, text) VALUES (1, $1)`, strings.Repeat("x", 50_000))
	err := db.copyError("/mnt/backups/store.db.copy-1", full)
	wantUnavailable(t, err)
	if text := fault.Message(err); !strings.Contains(text, "/mnt/backups") || !strings.Contains(text, "disk of that folder is full") {
		t.Errorf("message %q", text)
	}
	if s := db.Status(); s.WriteFault != "" || s.WritesOff != "" {
		t.Errorf("the database: %+v", s)
	}
}

func TestAFaultOfACopyLeavesWritesOn(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	for code, why := range map[int]string{
		lib.SQLITE_FULL:            "The disk of that folder is full",
		lib.SQLITE_READONLY:        "That folder is read-only",
		lib.SQLITE_CANTOPEN:        "The file or its copy can't be opened",
		lib.SQLITE_IOERR_READ:      "The disk of the file or of its copy failed",
		lib.SQLITE_IOERR_FSYNC:     "The disk of the file or of its copy failed",
		lib.SQLITE_IOERR_DIR_FSYNC: "The disk of the file or of its copy failed",
	} {
		err := db.copyFault("/mnt/backups/store.db.copy-1", errors.New("from the driver"), code)
		wantUnavailable(t, err)
		if text := fault.Message(err); !strings.Contains(text, db.Path()) || !strings.HasSuffix(text, "/mnt/backups. "+why) {
			t.Errorf("%d: message %q", code, text)
		}
		if s := db.Status(); s.WriteFault != "" || s.WritesOff != "" {
			t.Errorf("%d: the database: %+v", code, s)
		}
	}
}

// Files that are built and copies have no log.
func TestAFileThatIsBuiltOrCopiedMayFail(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	versions := must.Get(db.options.Latest())(t)
	for _, code := range []int{lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_IOERR_FSYNC} {
		failed := errors.New("from the driver")
		if err := db.copied("/mnt/backups/store.db.copy-1").wrapSQLite(failed, code); !errors.Is(err, failed) {
			t.Errorf("of a copy, %d: %v", code, err)
		}
		err := BuildFile(t.Context(), Options{Path: filepath.Join(t.TempDir(), "built.db"), Schemas: []Schema{twoSteps()}}, Build{
			Versions: versions,
			Fill:     func(Load) error { return nil },
			Finish:   func(built *DB) error { return built.wrapSQLite(failed, code) },
		})
		if !errors.Is(err, failed) {
			t.Errorf("of a file that is built, %d: %v", code, err)
		}
	}
	if s := db.Status(); s.WritesOff != "" {
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
	expect.Equalf(t, count(t, db.Queries(), `SELECT CAST(value AS bigint) FROM meta WHERE name = 'commits'`), commits, "it probes without a fault")
}
