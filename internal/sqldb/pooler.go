package sqldb

import (
	"context"
	"strconv"

	"github.com/countersign/countersign/internal/fault"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// checkPooler refuses a pooler that gives each transaction another connection to
// PostgreSQL: changes would not be heard of, and what is set for a connection would be
// set for others. A server names the process behind a connection when it is made; a
// pooler names one that does not exist.
func (p *primary) checkPooler(ctx context.Context, conn *pgx.Conn) error {
	if p.direct.Load() {
		return nil
	}
	first, err := backendOf(ctx, conn.PgConn())
	if err != nil {
		return err
	}
	if first == conn.PgConn().PID() {
		p.direct.Store(true)
		return nil
	}
	shared, err := isShared(ctx, conn, first)
	if err == nil && shared {
		return poolerError(nil)
	}
	return err
}

// isShared reports whether two connections that are open at the same time had the same
// process behind them, or one had two.
func isShared(ctx context.Context, conn *pgx.Conn, first uint32) (bool, error) {
	other, err := pgconn.ConnectConfig(ctx, &conn.Config().Config) // the same host: primary may know of none by now
	if err != nil {
		return false, err
	}
	defer other.Close(ctx)
	for range 3 {
		one, err := backendOf(ctx, conn.PgConn())
		if err != nil {
			return false, err
		}
		two, err := backendOf(ctx, other)
		if err != nil {
			return false, err
		}
		if one != first || one == two {
			return true, nil
		}
	}
	return false, nil
}

// backendOf returns the number of the process of PostgreSQL that answers.
func backendOf(ctx context.Context, conn *pgconn.PgConn) (uint32, error) {
	results, err := conn.Exec(ctx, "SELECT pg_backend_pid()").ReadAll()
	if err != nil {
		return 0, err
	}
	pid, err := strconv.ParseUint(string(results[0].Rows[0][0]), 10, 32)
	return uint32(pid), err
}

// CodePooler is the code of an error that says that the database is behind a pooler
// that can't be used.
const CodePooler = "db_pooler"

func poolerError(cause error) error {
	return fault.WithCause(fault.WithRetry(fault.Unavailable(CodePooler, "The database is behind a connection pooler in transaction mode. It loses prepared statements, locks and change notifications"), retryAfter), cause)
}
