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
	box       atomic.Pointer[keyfile.Box]
	outdated  atomic.Bool // the database belongs to another key file by now
	migrating atomic.Bool
}

// Open opens the gate with the key file that belongs to the database, also after it was closed or had another one.
func (g *Gate) Open(box *keyfile.Box) {
	g.box.Store(box)
	g.outdated.Store(false)
}

// Outdated closes the gate: the database belongs to another key file.
func (g *Gate) Outdated() { g.outdated.Store(true) }

// SetMigrating notes whether the database is being migrated, which a closed gate gives
// as its reason.
func (g *Gate) SetMigrating(is bool) { g.migrating.Store(is) }

// Box returns the key file, nil before the gate was opened.
func (g *Gate) Box() *keyfile.Box { return g.box.Load() }

// Ready returns an error of kind Unavailable while the gate is closed.
func (g *Gate) Ready() error {
	if g.box.Load() != nil && !g.outdated.Load() {
		return nil
	}
	return g.closed()
}

func (g *Gate) closed() error {
	if g.migrating.Load() {
		return ErrMigrating
	}
	return errNotPrepared
}

var errNotPrepared = fault.WithRetry(fault.Unavailable("unavailable", "The store's database is not ready yet"), 2*time.Second)

// ErrMigrating means that the database is being migrated; it is of kind Unavailable.
var ErrMigrating error = fault.WithRetry(fault.Unavailable(countersign.CodeMigrating, "The store's database is being migrated to this version"), 10*time.Second)

// ErrKeyReplaced means that the database belongs to another key file than the one that
// this process has read; it is of kind Conflict.
var ErrKeyReplaced error = fault.Conflict("key_replaced", "The key file of this database was replaced after this program had read it; "+
	"start it again, with the new key file in its data folder")

// SameKeyFile makes sure, at the end of a transaction that wrote something made with
// the key file, that the database still belongs to it.
func (g *Gate) SameKeyFile(ctx context.Context, tx *storedb.DB) error {
	same, err := keyfile.Same(ctx, tx.Queries, g.box.Load())
	if err == nil && !same {
		return ErrKeyReplaced
	}
	return err
}
