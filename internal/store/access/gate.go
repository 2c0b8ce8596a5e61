package access

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Gate holds the key file of the store's database, and is closed while there is none
// that belongs to it: before the store is prepared, and once the key file was replaced.
// Its methods may be called from many goroutines.
type Gate struct {
	keyfile.Current
	reason atomic.Pointer[countersign.Error]
}

// SetReason notes why the gate is closed; nil for no other reason than that the store is not prepared.
func (g *Gate) SetReason(why *countersign.Error) { g.reason.Store(why) }

// Ready returns an error of kind Unavailable while the gate is closed.
func (g *Gate) Ready() error {
	if g.InForce() {
		return nil
	}
	return g.closed()
}

func (g *Gate) closed() error {
	if why := g.reason.Load(); why != nil {
		return why
	}
	return errNotPrepared
}

var errNotPrepared = fault.WithRetry(fault.Unavailable("unavailable", "The store's database is not ready yet"), 2*time.Second)

// ErrMigrating means that the database is being migrated; it is of kind Unavailable.
var ErrMigrating = fault.WithRetry(fault.Unavailable(countersign.CodeMigrating, "The store's database is being migrated to this version"), 10*time.Second)

// MigrationFailed means that the database could not be migrated for now; it is of kind Unavailable.
func MigrationFailed(cause error) *countersign.Error {
	e := fault.Unavailable(countersign.CodeMigrationFailed, "The store's database can't be migrated to this version: "+fault.Message(cause))
	return fault.WithCause(fault.WithRetry(e, 10*time.Second), cause)
}

// SameKeyFile makes sure, at the end of a transaction that wrote something made with
// the key file, that the database still belongs to it.
func (g *Gate) SameKeyFile(ctx context.Context, tx *storedb.DB) error {
	return keyfile.Same(ctx, tx.Queries, g.Box())
}
