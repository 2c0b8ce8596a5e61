// Package requestdb holds the queries of the log of API requests, one file per noun. Its
// tables are in a SQLite file of their own, and in the database of the store on PostgreSQL.
package requestdb

import (
	"context"
	"embed"

	"github.com/countersign/countersign/internal/sqldb"
)

//go:embed migrations/*.sql
var files embed.FS

// Schema is the migrations of the log.
var Schema = sqldb.Schema{Name: "requests", Files: files}

// DB is the queries of the log: on the pools, or inside the transaction whose function it
// was handed to.
type DB struct{ sqldb.Queries }

// New returns the queries of an open database.
func New(db *sqldb.DB) *DB { return &DB{db.Queries()} }

// Tx runs fn in one transaction, as [sqldb.DB.Tx] says.
func (d *DB) Tx(ctx context.Context, fn func(*DB) error) error {
	return d.Queries.DB().Tx(ctx, func(q sqldb.Queries) error { return fn(&DB{q}) })
}

// rowsAtOnce is how many rows one INSERT has: many where it has to travel, few where the
// driver needs longer for an argument the more there are.
func (d *DB) rowsAtOnce() int {
	if d.DB().Engine() == sqldb.Postgres {
		return 128
	}
	return 16
}
