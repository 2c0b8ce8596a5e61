// Package validation authenticates API keys, validates purchase codes, and returns
// workspaces and items. It caches what these need.
package validation

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/usage"
)

// Validator authenticates keys and validates purchase codes. Its methods may be called
// from many goroutines.
type Validator struct {
	db        *storedb.DB
	gate      *instance.Gate
	keys      keyCache
	responses *responseCache
	watchers  []sqldb.Watcher
	uses      usage.Counter // of keys
	damages   atomic.Int64
	now       func() time.Time
	log       *slog.Logger
}

// New returns a validator. cacheBytes bounds the memory in which it keeps what it
// prints; 0 keeps none. Items have 8 MiB in any case.
func New(db *storedb.DB, gate *instance.Gate, cacheBytes int64, now func() time.Time, log *slog.Logger) *Validator {
	v := &Validator{db: db, gate: gate, keys: keyCache{db: db, gate: gate}, responses: newResponseCache(cacheBytes), now: now, log: log}
	v.watchers = []sqldb.Watcher{v.keys.Watch(v.keys.readAll, storedb.TopicKeys), v.responses.watcher()}
	return v
}

// Watchers have to be added to the database: they drop what has changed.
func (v *Validator) Watchers() []sqldb.Watcher { return v.watchers }

// FillKeys reads the keys into memory, if changes of them arrive.
func (v *Validator) FillKeys(ctx context.Context) error {
	_, err := v.keys.Get(ctx)
	return err
}

// useInterval is how often last uses are written.
const useInterval = time.Minute

// Start keeps the keys in memory and writes their last uses, in the background.
func (v *Validator) Start(work *group.Group) {
	work.Start("key cache", v.keys.Fill)
	work.Start("last uses", func(ctx context.Context) { group.Every(ctx, useInterval, v.writeUses) })
}

// Close writes what is still to be written of the keys' last uses.
func (v *Validator) Close(ctx context.Context) { v.writeUses(ctx) }

// Uses is how many uses of keys wait to be written.
func (v *Validator) Uses() usage.Figures { return v.uses.Figures() }

// writeUses writes which keys were used since the last time. What can't be written now
// is kept for the next time.
func (v *Validator) writeUses(ctx context.Context) {
	if err := v.uses.Write(ctx, v.db.Queries.DB(), "keys"); err != nil {
		v.log.Warn("the keys' last uses could not be written", "cause", err)
	}
}
