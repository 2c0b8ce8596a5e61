// Package peopledb holds the queries of people: for now the audit log.
package peopledb

import (
	"embed"

	"github.com/countersign/countersign/internal/sqldb"
)

//go:embed migrations/*.sql
var files embed.FS

// Schema is the migrations of these tables.
var Schema = sqldb.Schema{Name: "people", Files: files}

// DB is the queries of people, inside or outside a transaction.
type DB struct{ sqldb.Queries }
