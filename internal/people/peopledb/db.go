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

// Run runs a statement whose number of changed rows does not matter.
func (d *DB) Run(ctx context.Context, query string, args ...any) error {
	_, err := d.Exec(ctx, query, args...)
	return err
}

// Change is Run for a statement that changes what may be cached: it marks a topic first.
func (d *DB) Change(ctx context.Context, topic, query string, args ...any) error {
	if err := d.Mark(ctx, topic, ""); err != nil {
		return err
	}
	return d.Run(ctx, query, args...)
}

// Snapshot runs fn on one view of the database, as [sqldb.DB.Snapshot] says.
func (d *DB) Snapshot(ctx context.Context, fn func(*DB) error) error {
	return d.Queries.DB().Snapshot(ctx, func(q sqldb.Queries) error { return fn(&DB{q}) })
}
