package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// wire is what is known about one connection to PostgreSQL. A nil one, as on SQLite,
// does nothing.
type wire struct {
	conn *pgconn.PgConn
	// generation is that of primary when the connection was made.
	generation int64
	// committing reports that a COMMIT was sent. The driver then can't ask the server to
	// end what it does, which it would when the connection breaks: PostgreSQL ends the
	// wait for a standby at that, and shows what may still be lost.
	committing atomic.Bool
	// warned reports that the server had a warning during the COMMIT.
	warned atomic.Bool
}

// wireName is where a connection of the driver holds its wire.
const wireName = "countersign"

var (
	// errNotReplicated is a commit whose wait for a standby the server gave up: by its
	// operator's wish or a timeout of its own. It says so in a warning alone.
	errNotReplicated = errors.New("sqldb: the server committed with a warning; a standby may not have it")
	errNoCancel      = errors.New("sqldb: a commit is not cancelled")
)

// prepare lets the wire of a connection that is about to be made hear of it.
func (w *wire) prepare(c *pgx.ConnConfig) {
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if w.committing.Load() {
			return nil, errNoCancel
		}
		return dial(ctx, network, address)
	}
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if w.committing.Load() && n.SeverityUnlocalized == "WARNING" {
			w.warned.Store(true)
		}
	}
}

// attach puts the wire where wireOf finds it.
func (w *wire) attach(conn *pgx.Conn) {
	w.conn = conn.PgConn()
	w.conn.CustomData()[wireName] = w
}

// wireOf returns the wire of a connection of a pool, nil on SQLite.
func wireOf(db *DB, conn *sql.Conn) (w *wire) {
	if db.engine == SQLite {
		return nil
	}
	_ = conn.Raw(func(driverConn any) error {
		if nested, ok := driverConn.(nestedConn); ok {
			driverConn = nested.Conn
		}
		w = wireIn(driverConn.(*stdlib.Conn).Conn())
		return nil
	})
	return w
}

func wireIn(conn *pgx.Conn) *wire {
	w, _ := conn.PgConn().CustomData()[wireName].(*wire)
	return w
}

// beginCommit is called before a COMMIT.
func (w *wire) beginCommit() {
	if w != nil {
		w.warned.Store(false)
		w.committing.Store(true)
	}
}

// free is called after a COMMIT, with its error. A connection that broke stays held: the
// driver is still about to ask the server to end what it does.
func (w *wire) free(err error) error {
	if w == nil {
		return err
	}
	if !w.conn.IsClosed() {
		w.committing.Store(false)
	}
	if err == nil && w.warned.Load() {
		return errNotReplicated
	}
	return err
}

// hangUp closes the connection under a COMMIT, without a word to the server.
func (w *wire) hangUp() {
	if w != nil {
		_ = w.conn.Conn().Close()
	}
}
