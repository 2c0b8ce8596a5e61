package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
	zombiezen "zombiezen.com/go/sqlite"
)

// What a query can meet that its caller may want to tell apart. Everything
// that says "not now" is a [countersign.Error] of kind Unavailable.
var (
	ErrNotFound = errors.New("sqldb: no such row")
	ErrExists   = errors.New("sqldb: a row with this key exists")
	errNoTable  = errors.New("sqldb: no such table")
)

// CodeDamaged is the code of the error of a SQLite file with content that can't be read.
const CodeDamaged = "database_damaged"

// CodeFull is the code of the error of a disk without room, which is of kind Unavailable.
const CodeFull = "disk_full"

// wrap brings a driver's error into our form. It is the only place that knows
// driver codes.
func (s *shared) wrap(err error) error {
	if err == nil || errors.Is(err, ErrNotFound) || fault.Of(err) != nil {
		return err // it has our form
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case errors.Is(err, context.Canceled):
		return err // the caller gave up
	case errors.Is(err, context.DeadlineExceeded):
		return unavailable("The database did not answer in time", err)
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return s.wrapSQLite(err, lite.Code())
	}
	if code := zombiezen.ErrCode(err); s.engine == SQLite && code != zombiezen.ResultOK {
		return s.wrapSQLite(err, int(code))
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return s.wrapPostgres(err, pg.Code)
	}
	var connect *pgconn.ConnectError
	var network net.Error
	if errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "conn closed") {
		return unavailable("The database can't be reached", err)
	}
	return err
}

func (s *shared) wrapSQLite(err error, code int) error {
	switch code {
	case lib.SQLITE_IOERR_FSYNC, lib.SQLITE_IOERR_DIR_FSYNC:
		s.stopWrites(stopFsync, err)
		return unavailable("The disk failed while the database was written", err)
	case lib.SQLITE_IOERR_SHMSIZE: // each process that opens the database first makes room for its index
		return s.full("The disk is full", err)
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY:
		return errors.Join(ErrExists, err)
	}
	switch code & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		s.stopWrites(s.stopDamage(), err)
		what := "is damaged"
		if code&0xff == lib.SQLITE_NOTADB {
			what = "is not a SQLite database, or its beginning is damaged"
		}
		return s.damaged(what, err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return busy(err)
	case lib.SQLITE_FULL:
		return s.full("The disk is full", err)
	case lib.SQLITE_READONLY:
		s.writeFaults.note(FaultReadOnly)
		return unavailable("The database can't be written: its file or folder is read-only", err)
	case lib.SQLITE_CANTOPEN:
		return unavailable(fmt.Sprintf("The database file %s can't be opened", s.options.Path), err)
	case lib.SQLITE_IOERR:
		return unavailable("The disk failed", err)
	case lib.SQLITE_ERROR, lib.SQLITE_SCHEMA: // the second when another process makes tables meanwhile
		if strings.Contains(err.Error(), "no such table") {
			return noTable(err)
		}
	}
	return err
}

// damaged is the error of a file that SQLite can't use. It names the backup to restore.
func (s *shared) damaged(what string, cause error) error {
	return fault.WithCause(fault.New(countersign.KindInternal, CodeDamaged,
		fmt.Sprintf("The database file %s %s. %s", s.options.Path, what, s.DamageAdvice())), cause)
}

// Path is the path of the SQLite file, also when there is none.
func (s *shared) Path() string { return s.options.Path }

// DamageAdvice says what to do about a SQLite file that is damaged, and names the newest
// backup.
func (s *shared) DamageAdvice() string {
	if s.options.Relaxed { // a log, which has no backups
		return "Stop the service and remove the file. The server creates a new one"
	}
	const advice = "Stop the service, keep a copy of the file, and restore a backup"
	if newest := NewestBackup(s.options.Path); newest != "" {
		return advice + "; the newest is " + newest
	}
	return advice + " (none in " + filepath.Join(filepath.Dir(s.options.Path), "backups") + ")"
}

// wrapPostgres reads SQLSTATE codes: class 08 is the connection, 53 a lack of
// resources (disk, memory, connections), 57 the operator's intervention.
func (s *shared) wrapPostgres(err error, code string) error {
	switch {
	case code == "23505":
		return errors.Join(ErrExists, err)
	case code == "42P01":
		return noTable(err)
	case code == "53100":
		return s.full("The database's disk is full", err)
	case code == "25006":
		s.primary.demoted()
		s.writeFaults.note(FaultReadOnly)
		return unavailable("The database can't be written: it is read-only", err)
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "53"), strings.HasPrefix(code, "57P"):
		return unavailable("The database can't be reached", err)
	case strings.HasPrefix(code, "28"), code == "3D000":
		return unavailable("The database refused the sign-in or does not exist", err)
	case code == "42P05", code == "26000":
		return poolerError(err)
	case code == "40001", code == "40P01", code == "55P03":
		return busy(err)
	}
	return err
}

// retryAfter is when a caller may try again.
const retryAfter = 5 * time.Second

// busy is the error of a write that only others stand in the way of.
func busy(cause error) error {
	return fault.WithCause(fault.WithRetry(fault.Unavailable(countersign.CodeBusy, "The database is busy with another write"), retryAfter), cause)
}

// noTable is the error of a database without the tables of its service: it has not been
// set up, or somebody replaced it by an empty one.
func noTable(cause error) error {
	return unavailable("The database lacks its tables: it is another database, or its content was removed", errors.Join(errNoTable, cause))
}

// unavailable is "not now, try again". The message is for the operator's
// terminal; the JSON API prints its own fixed sentence.
func unavailable(message string, cause error) error {
	return fault.WithCause(fault.WithRetry(fault.Unavailable(countersign.CodeUnavailable, message), retryAfter), cause)
}

// full is the error of a disk without room.
func (s *shared) full(message string, cause error) error {
	s.writeFaults.note(FaultFull)
	return fault.WithCause(fault.WithRetry(fault.Unavailable(CodeFull, message), retryAfter), cause)
}

// IfNotFound returns meaning for a row that was not found, and any other err as it is.
func IfNotFound(err, meaning error) error {
	if errors.Is(err, ErrNotFound) {
		return meaning
	}
	return err
}

// isContentError reports whether the database refused values: by class 22 (data) or 23 (constraints)
// of PostgreSQL.
func isContentError(err error) bool {
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		code := lite.Code() & 0xff
		return code == lib.SQLITE_CONSTRAINT || code == lib.SQLITE_MISMATCH || code == lib.SQLITE_TOOBIG
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23"))
}

// contentError is the error of a statement that wrote rows of a backup or of another database. An
// outage stays what it is.
func contentError(err error) error {
	if isContentError(err) {
		return badContent(err)
	}
	return err
}
