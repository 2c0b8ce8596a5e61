package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// connectTimeout bounds one attempt to reach PostgreSQL, so that a request
// that needs it is answered soon when it is gone.
const connectTimeout = 3 * time.Second

// Pool sizes. All connections stay open: with fewer, a busy server would open and close
// some all the time, each with a new process, a sign-in and new prepared statements.
// Writes have a separate pool, because a commit may wait for a standby and reads must
// not wait with it.
const (
	readConnections  = 32
	writeConnections = 12
)

func openPostgres(s *shared) (*DB, error) {
	config, err := postgresConfig(s.options.URL)
	if err != nil {
		return nil, err
	}
	s.primary = newPrimary(config, s.options.Log)
	read, write := s.primary.openPool(0), s.primary.openPool(lockWait)
	read.SetMaxOpenConns(readConnections)
	read.SetMaxIdleConns(readConnections)
	db := &DB{shared: s, read: read, write: write, writers: newWriters(write, writeConnections), limits: requestLimits(s.options)}
	for _, pool := range []*sql.DB{read, write} {
		pool.SetConnMaxIdleTime(5 * time.Minute)
	}
	s.primary.forget, s.primary.abandon = db.closeIdle, db.writers.abandon
	return db, nil
}

// closeIdle closes all connections that nobody uses.
func (db *DB) closeIdle() {
	db.read.SetMaxIdleConns(0)
	db.read.SetMaxIdleConns(readConnections)
	db.write.SetMaxIdleConns(0)
	db.write.SetMaxIdleConns(writeConnections)
}

// postgresConfig reads a connection URL. Its error never repeats the URL, which
// may hold a password.
func postgresConfig(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fault.WithCause(fault.Invalid("db_url", "Invalid database URL: expected postgres://user:password@host:5432/name"), fmt.Errorf("sqldb: the database's URL is malformed"))
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTimeout {
		config.ConnectTimeout = connectTimeout
	}
	config.RuntimeParams["timezone"] = "UTC"
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "countersign"
	}
	if config.ValidateConnect == nil {
		config.ValidateConnect = refuseStandby
	}
	return config, nil
}

// refuseStandby refuses a server that only follows another one, where the URL says
// nothing of it: what it answers may be long out of date. The server names its state
// when the connection is made, from PostgreSQL 14 on.
func refuseStandby(_ context.Context, conn *pgconn.PgConn) error {
	if conn.ParameterStatus("in_hot_standby") == "on" {
		return errors.New("the server is a standby")
	}
	return nil
}

// hostsOf returns a configuration for each of the hosts that a URL names. What else
// the driver would try for one of them, such as to do without TLS, stays with it.
func hostsOf(config *pgx.ConnConfig) []*pgx.ConnConfig {
	var hosts []*pgx.ConnConfig
	all := append([]*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}}, config.Fallbacks...)
	for _, one := range all {
		if n := len(hosts); n > 0 && hosts[n-1].Host == one.Host && hosts[n-1].Port == one.Port {
			hosts[n-1].Fallbacks = append(hosts[n-1].Fallbacks, one)
			continue
		}
		host := config.Copy()
		host.Host, host.Port, host.TLSConfig, host.Fallbacks = one.Host, one.Port, one.TLSConfig, nil
		hosts = append(hosts, host)
	}
	return hosts
}

// lockWait bounds the wait for a row that another transaction has locked, in the
// server: it goes on after the deadline of a request would have ended the statement,
// when the network is gone.
const lockWait = writeWait - 500*time.Millisecond

// openPool opens a pool of connections to the primary. locks bounds the wait for a
// lock, unless the URL does or it is 0.
func (p *primary) openPool(locks time.Duration) *sql.DB {
	return sql.OpenDB(&poolConnector{primary: p, locks: locks})
}

// poolConnector creates the connections of a pool.
type poolConnector struct {
	primary *primary
	locks   time.Duration
}

// Connect is that of [driver.Connector].
func (c *poolConnector) Connect(ctx context.Context) (conn driver.Conn, err error) {
	err = c.primary.connect(ctx, func(ctx context.Context, config *pgx.ConnConfig) error {
		w := &wire{generation: c.primary.generation.Load()}
		w.prepare(config)
		connector := stdlib.GetConnector(*config,
			stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
				w.attach(conn)
				return c.setUp(ctx, conn)
			}),
			stdlib.OptionResetSession(c.stillPrimary))
		conn, err = connector.Connect(ctx)
		return err
	})
	return conn, err
}

// Driver is that of [driver.Connector].
func (c *poolConnector) Driver() driver.Driver { return stdlib.GetDefaultDriver() }

// setUp is done once for a connection. The driver forgets to close one when it fails.
func (c *poolConnector) setUp(ctx context.Context, conn *pgx.Conn) error {
	err := c.primary.checkPooler(ctx, conn)
	if _, said := c.primary.config.RuntimeParams["lock_timeout"]; err == nil && c.locks > 0 && !said {
		_, err = conn.PgConn().Exec(ctx, "SET lock_timeout = "+strconv.FormatInt(c.locks.Milliseconds(), 10)).ReadAll()
	}
	if err != nil {
		_ = conn.Close(ctx)
	}
	return err
}

// stillPrimary refuses a connection from before the primary changed.
func (c *poolConnector) stillPrimary(_ context.Context, conn *pgx.Conn) error {
	if w := wireIn(conn); w != nil && w.generation != c.primary.generation.Load() {
		return driver.ErrBadConn
	}
	return nil
}
