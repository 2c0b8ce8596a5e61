// Package transfer writes a store as lines of JSON and reads such lines, or CSV, into a store.
package transfer

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Service imports and exports. Its methods may be called from many goroutines.
type Service struct {
	db    *storedb.DB
	gate  *instance.Gate
	queue *jobs.Queue
	dir   string
	now   func() time.Time
	// clashes counts, by workspace, lines whose codes another workspace has.
	clashes *access.Clashes
}

// New returns the import and export of a store, and adds the imports to the queue of its jobs.
// dir is the data folder.
func New(db *storedb.DB, gate *instance.Gate, queue *jobs.Queue, dir string, clashes *access.Clashes, now func() time.Time) *Service {
	s := &Service{db: db, gate: gate, queue: queue, dir: dir, now: now, clashes: clashes}
	queue.Handle(importKind, jobs.Kind{Work: s.runImport, Ended: s.importEnded})
	return s
}

// What this package writes into the audit log.
const (
	actionImport       people.Action = "store.import"
	actionUndoImport   people.Action = "store.undo_import"
	actionCancelImport people.Action = "store.cancel_import"
	actionExport       people.Action = "store.export"
)

// Actions lists the actions that this package writes into the audit log.
func Actions() []people.Action {
	return []people.Action{actionImport, actionUndoImport, actionCancelImport, actionExport}
}

func (s *Service) timestamp() countersign.Timestamp { return countersign.At(s.now()) }
