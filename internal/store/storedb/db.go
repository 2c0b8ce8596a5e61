// Package storedb holds the store's queries, one file per noun.
package storedb

import (
	"context"
	"embed"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

//go:embed migrations/*.sql
var files embed.FS

// Schemas is the migrations of a store's database, in order.
var Schemas = []sqldb.Schema{peopledb.Schema, peopledb.Roles, {
	Name: "store", Files: files, Before: map[int64]sqldb.Work{7: numberPurchases},
}, jobs.Schema}

// The topics of changes that memory may hold.
const (
	TopicKeys       = "keys"
	TopicWorkspaces = "workspaces"
	TopicItems      = "items"
	TopicPurchases  = "purchases"
	// TopicLicenses is the list of revoked licenses, TopicLicenseKeys the keys that
	// sign and check licenses.
	TopicLicenses    = "licenses"
	TopicLicenseKeys = "license_keys"
)

// DB is the store's queries: on the pools, or inside the transaction whose
// function it was handed to.
type DB struct {
	peopledb.DB
	purchase *sqldb.Lookup
}

// New returns the queries of an open database.
func New(db *sqldb.DB) *DB {
	return &DB{DB: peopledb.DB{Queries: db.Queries()}, purchase: db.Lookup(selectValidation)}
}

// In returns the queries inside a transaction.
func In(tx sqldb.Queries) *DB { return &DB{DB: peopledb.DB{Queries: tx}} }

// column reads and writes a timestamp as a column, NULL when it is zero.
func column(t *countersign.Timestamp) sqldb.TimestampColumn {
	return sqldb.TimestampColumn{Timestamp: t}
}

// Tx runs fn in one transaction, as [sqldb.DB.Tx] says.
func (d *DB) Tx(ctx context.Context, fn func(*DB) error) error {
	return d.Queries.DB().Tx(ctx, func(q sqldb.Queries) error { return fn(In(q)) })
}

// Session runs fn on one connection of its own, as [sqldb.DB.Session] says.
func (d *DB) Session(ctx context.Context, fn func(*DB) error) error {
	return d.Queries.DB().Session(ctx, func(db *sqldb.DB) error { return fn(New(db)) })
}

// Snapshot runs fn on one view of the database, as [sqldb.DB.Snapshot] says.
func (d *DB) Snapshot(ctx context.Context, fn func(*DB) error) error {
	return d.Queries.DB().Snapshot(ctx, func(q sqldb.Queries) error { return fn(In(q)) })
}
