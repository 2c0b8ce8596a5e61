// Package transfer writes a store as lines of JSON and reads such lines into a store.
package transfer

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Service imports and exports. Its methods may be called from many goroutines.
type Service struct {
	db   *storedb.DB
	gate *access.Gate
	now  func() time.Time
}

// New returns the import and export of a store.
func New(db *storedb.DB, gate *access.Gate, now func() time.Time) *Service {
	return &Service{db: db, gate: gate, now: now}
}

// What this package writes into the audit log.
const (
	actionImport     people.Action = "store.import"
	actionUndoImport people.Action = "store.undo_import"
	actionExport     people.Action = "store.export"
)

// Actions lists the actions that this package writes into the audit log.
func Actions() []people.Action { return []people.Action{actionImport, actionUndoImport, actionExport} }

func (s *Service) timestamp() countersign.Timestamp { return countersign.At(s.now()) }
