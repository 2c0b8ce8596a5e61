// Package peopledb holds the queries of people: users, their sessions, links and
// recovery codes, and the audit log.
package peopledb

import (
	"context"
	"embed"

	"github.com/countersign/countersign/internal/sqldb"
)

//go:embed migrations/*.sql
var files embed.FS

// TopicUsers is marked when there is a new user.
const TopicUsers = "users"

// Schema is the migrations of these tables.
var Schema = sqldb.Schema{Name: "people", Files: files}

// DB is the queries of people, inside or outside a transaction.
type DB struct{ sqldb.Queries }

// Tx runs fn in one transaction, as [sqldb.DB.Tx] says.
func (d *DB) Tx(ctx context.Context, fn func(*DB) error) error {
	return d.Queries.DB().Tx(ctx, func(q sqldb.Queries) error { return fn(&DB{q}) })
}

// Snapshot runs fn on one view of the database, as [sqldb.DB.Snapshot] says.
func (d *DB) Snapshot(ctx context.Context, fn func(*DB) error) error {
	return d.Queries.DB().Snapshot(ctx, func(q sqldb.Queries) error { return fn(&DB{q}) })
}
