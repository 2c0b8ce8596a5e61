package instance

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// Gate holds the key file of a database, and is closed while there is a reason that nobody may work with it: it is not
// prepared, is being migrated or needs an update, or its key file was replaced. Its methods may be called from many
// goroutines.
type Gate struct {
	keyfile.Current // none until the database is prepared
	notReady        *countersign.Error
	reason          atomic.Pointer[countersign.Error]
}

// NewGate returns the gate of a service, which is closed.
func NewGate(s keyfile.Service) *Gate {
	g := &Gate{notReady: fault.WithRetry(fault.Unavailable(countersign.CodeUnavailable, "The "+string(s)+"'s database is not ready yet"), 2*time.Second)}
	g.reason.Store(g.notReady)
	return g
}

// SetReason notes why the gate is closed, nil for no reason but a key file that is missing or was replaced.
func (g *Gate) SetReason(why *countersign.Error) { g.reason.Store(why) }

// Reason is that of [Gate.SetReason], at first [Gate.NotReady].
func (g *Gate) Reason() *countersign.Error { return g.reason.Load() }

// NotReady is the reason of a gate whose database is not prepared; it is of kind Unavailable.
func (g *Gate) NotReady() *countersign.Error { return g.notReady }

// Ready returns the reason why the gate is closed, nil while it is open.
func (g *Gate) Ready() error {
	if why := g.Reason(); why != nil {
		return why
	}
	if !g.InForce() {
		return g.notReady
	}
	return nil
}

// SameKeyFile makes sure, at the end of a transaction that wrote something made with
// the key file, that the database still belongs to it. Otherwise it returns [keyfile.ErrReplaced].
func (g *Gate) SameKeyFile(ctx context.Context, tx sqldb.Queries) error {
	return keyfile.Same(ctx, tx, g.Box())
}
