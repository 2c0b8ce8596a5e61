// Package addondb holds the addon's queries, one file per noun.
package addondb

import (
	"context"
	"embed"

	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

//go:embed migrations/*.sql
var files embed.FS

// Schemas is the migrations of an addon's database, in order.
var Schemas = []sqldb.Schema{peopledb.Schema, {Name: "addon", Files: files}, jobs.Schema}

// The topics of changes that memory may hold.
const (
	// TopicServed is everything that the public answers are made of: versions and
	// packages.
	TopicServed = "served"
	// TopicEvents is the feed of events.
	TopicEvents = "events"
	// TopicCredentials is the API credentials, but for when they were used.
	TopicCredentials = "credentials"
	// TopicMemberships is the memberships, by user.
	TopicMemberships = "memberships"
	// TopicUpdate is a run of the update.
	TopicUpdate = "update"
)

// DB is the addon's queries: on the pools, or inside the transaction whose
// function it was handed to.
type DB struct{ peopledb.DB }

// New returns the queries of an open database.
func New(db *sqldb.DB) *DB { return &DB{peopledb.DB{Queries: db.Queries()}} }

// In returns the queries inside a transaction.
func In(tx sqldb.Queries) *DB { return &DB{peopledb.DB{Queries: tx}} }

// Tx runs fn in one transaction, as [sqldb.DB.Tx] says.
func (d *DB) Tx(ctx context.Context, fn func(*DB) error) error {
	return d.Queries.DB().Tx(ctx, func(q sqldb.Queries) error { return fn(In(q)) })
}

// Snapshot runs fn on one view of the database, as [sqldb.DB.Snapshot] says.
func (d *DB) Snapshot(ctx context.Context, fn func(*DB) error) error {
	return d.Queries.DB().Snapshot(ctx, func(q sqldb.Queries) error { return fn(In(q)) })
}
