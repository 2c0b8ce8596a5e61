package sqldb

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// readers is a fixed set of connections, each with the same prepared SELECT.
// They speak to SQLite without database/sql, whose locks and conversions cost
// as much as the lookup itself.
type readers struct {
	shared *shared
	query  string
	// inUse has a place for each connection that is in use.
	inUse chan struct{}
	mu    sync.Mutex
	// idle holds those that nobody uses, the one used last at the end; nil stands
	// for one that is to be opened.
	idle []*reader
}

// reader is one connection.
type reader struct {
	conn              *sqlite.Conn
	begin, end, query *sqlite.Stmt
	// mapped reports whether it reads the file through memory.
	mapped bool
	// snapshot reports whether one is open, and opened after how many releases.
	snapshot bool
	opened   uint64
}

// countReaders is how many connections read at once, for lookups and for all else.
func countReaders() int { return max(4, 2*runtime.NumCPU()) }

func newReaders(s *shared, query string) *readers {
	n := countReaders()
	return &readers{shared: s, query: query, inUse: make(chan struct{}, n), idle: make([]*reader, n)}
}

// take returns the reader that was used last, and waits for one while all are in use.
func (r *readers) take(ctx context.Context) (*reader, error) {
	select {
	case r.inUse <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.idle) - 1
	one := r.idle[last]
	r.idle = r.idle[:last]
	return one, nil
}

func (r *readers) put(one *reader) {
	r.mu.Lock()
	r.idle = append(r.idle, one)
	r.mu.Unlock()
	<-r.inUse
}

// row runs the lookup on an idle reader.
func (r *readers) row(ctx context.Context, a, b int64, dest []any) error {
	one, err := r.take(ctx)
	if err != nil {
		return err
	}
	one, err = r.try(one, a, b, dest)
	if errors.Is(err, errFault) {
		one, err = r.try(one, a, b, dest) // without the mapping
	}
	r.put(one)
	return err
}

// try runs the lookup on a reader, opening one for nil. It returns the reader, or nil
// after an error, so that the next lookup opens a new one.
func (r *readers) try(one *reader, a, b int64, dest []any) (after *reader, err error) {
	fatal := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(fatal)
		if cause := recover(); cause != nil {
			after, err = nil, r.shared.faulted(cause)
		}
	}()
	if one != nil && one.mapped && r.shared.unmapped.Load() {
		_ = one.conn.Close()
		one = nil
	}
	if one == nil {
		if one, err = r.open(); err != nil {
			return nil, err
		}
	}
	err = r.read(one, a, b, dest)
	if err != nil && !errors.Is(err, ErrNotFound) {
		_ = one.conn.Close()
		return nil, err
	}
	return one, err
}

// errFault means that a page of the file could not be read through its mapping.
var errFault = errors.New("sqldb: a page of the database file could not be read")

// faulted lets no reader map the file any more, after a panic whose cause is a page that
// the disk did not give or that was cut off. Other panics go on. The connection is left
// as it is: it was in the middle of its work.
func (s *shared) faulted(cause any) error {
	if _, ok := cause.(interface{ Addr() uintptr }); !ok {
		panic(cause)
	}
	if s.unmapped.CompareAndSwap(false, true) {
		s.options.Log.Error("a page of the database file could not be read; lookups do not map the file until a restart; check the disk")
	}
	return errFault
}

func (r *readers) read(one *reader, a, b int64, dest []any) error {
	if err := r.renew(one); err != nil {
		return err
	}
	q := one.query
	q.BindInt64(1, a)
	q.BindInt64(2, b)
	found, err := q.Step()
	if err == nil && found {
		err = scanColumns(q, dest)
	}
	err = errors.Join(err, q.Reset())
	if err == nil && r.stale(one) {
		err = one.release()
	}
	if err == nil && !found {
		return ErrNotFound
	}
	return err
}

// renew makes sure that the reader's snapshot is of now, if it has one.
func (r *readers) renew(one *reader) error {
	if r.stale(one) {
		if err := one.release(); err != nil {
			return err
		}
	}
	if one.snapshot || !r.shared.snapshots.feedLive.Load() {
		return nil
	}
	one.opened = r.shared.snapshots.releases.Load()
	one.snapshot = true
	return run(one.begin)
}

func (r *readers) stale(one *reader) bool {
	return one.snapshot && (one.opened != r.shared.snapshots.releases.Load() || !r.shared.snapshots.feedLive.Load())
}

func (one *reader) release() error {
	if !one.snapshot {
		return nil
	}
	one.snapshot = false
	return run(one.end)
}

// releaseIdle ends the snapshots of readers that nobody uses.
func (r *readers) releaseIdle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, one := range r.idle {
		if one != nil && r.stale(one) && one.release() != nil {
			_ = one.conn.Close()
			r.idle[i] = nil
		}
	}
}

// close waits for lookups under way and closes all connections.
func (r *readers) close() error {
	var errs []error
	for range cap(r.inUse) {
		one, _ := r.take(context.Background()) // which never ends
		if one != nil {
			errs = append(errs, one.conn.Close())
		}
	}
	for range cap(r.inUse) {
		r.put(nil)
	}
	return errors.Join(errs...)
}

func (r *readers) open() (*reader, error) {
	if err := r.shared.checkFiles(); err != nil {
		return nil, err
	}
	conn, err := sqlite.OpenConn(r.shared.options.Path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	conn.SetBusyTimeout(5 * time.Second)
	one := &reader{conn: conn, mapped: !r.shared.unmapped.Load()}
	pragmas := []string{"PRAGMA query_only = 1", "PRAGMA mmap_size = 2147418112"}
	if !one.mapped {
		pragmas = pragmas[:1]
	}
	for _, pragma := range pragmas {
		if err = sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	for text, stmt := range map[string]**sqlite.Stmt{"BEGIN": &one.begin, "COMMIT": &one.end, r.query: &one.query} {
		if *stmt, err = conn.Prepare(text); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return one, nil
}

// run steps a statement to its end.
func run(stmt *sqlite.Stmt) error {
	for {
		more, err := stmt.Step()
		if err != nil {
			return errors.Join(err, stmt.Reset())
		}
		if !more {
			return stmt.Reset()
		}
	}
}

// scanColumns reads the current row. It does for the few types of a lookup what
// database/sql does for all.
func scanColumns(q *sqlite.Stmt, dest []any) error {
	var buffer [64]byte
	for i, d := range dest {
		switch d := d.(type) {
		case *string:
			*d = string(columnText(q, i, buffer[:]))
		case *int64:
			*d = q.ColumnInt64(i)
		case *bool:
			*d = q.ColumnBool(i)
		case *[]byte:
			*d = append((*d)[:0], columnText(q, i, buffer[:])...)
		default:
			return fmt.Errorf("sqldb: a lookup can't scan into a %T", d)
		}
	}
	return nil
}

// columnText reads a column into buffer, if that is large enough. NULL is not text.
func columnText(q *sqlite.Stmt, i int, buffer []byte) []byte {
	if n := q.ColumnBytes(i, buffer); n < len(buffer) {
		return buffer[:n]
	}
	return []byte(q.ColumnText(i))
}
