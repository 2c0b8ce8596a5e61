package sqldb

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// connectTimeout bounds one attempt to reach PostgreSQL, so that a request
// that needs it is answered soon when it is gone.
const connectTimeout = 3 * time.Second

// connections is how many queries run at once. All of them are kept for the next
// query: with fewer, a busy server would open and close some all the time, each of
// them a process of PostgreSQL, a sign-in and every statement prepared anew.
const connections = 32

func openPostgres(s *shared) (*DB, error) {
	pool, err := openPool(s.options.URL)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return &DB{shared: s, read: pool, write: pool}, nil
}

func openPool(url string) (*sql.DB, error) {
	config, err := postgresConfig(url)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*config), nil
}

// postgresConfig reads a connection URL. Its error never repeats the URL, which
// may hold a password.
func postgresConfig(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, &countersign.Error{
			Kind: countersign.KindInvalid, Code: "db_url",
			Message: "The database URL can't be read; write it as postgres://user:password@host:5432/name",
			Cause:   fmt.Errorf("sqldb: the URL given with --db is malformed"),
		}
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTimeout {
		config.ConnectTimeout = connectTimeout
	}
	config.RuntimeParams["timezone"] = "UTC"
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "countersign"
	}
	return config, nil
}
