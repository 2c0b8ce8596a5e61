package store

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/store/storedb"
)

// useInterval is how often last uses are written, in one batch.
const useInterval = time.Minute

// uses counts the calls of each key in memory, off the request's path.
type uses struct {
	mu   sync.Mutex
	keys map[int64]*use
}

type use struct {
	count int64
	at    time.Time
	from  netip.Addr
}

func (u *uses) note(key int64, at time.Time, from netip.Addr) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.keys == nil {
		u.keys = make(map[int64]*use)
	}
	k := u.keys[key]
	if k == nil {
		k = new(use)
		u.keys[key] = k
	}
	k.count++
	k.at, k.from = at, from
}

func (u *uses) take() map[int64]*use {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.keys
	u.keys = nil
	return taken
}

// giveBack adds what could not be written to what came meanwhile.
func (u *uses) giveBack(taken map[int64]*use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, newer := range u.keys {
		if older := taken[id]; older != nil {
			newer.count += older.count
		}
		taken[id] = newer
	}
	u.keys = taken
}

// writeUsesEvery writes last uses until ctx ends; [Store.Close] writes the rest.
func (s *Store) writeUsesEvery(ctx context.Context, interval time.Duration) {
	group.Every(ctx, interval, s.writeUses)
}

// writeUses writes what was counted since the last time. What can't be written
// now is kept for the next time.
func (s *Store) writeUses(ctx context.Context) {
	taken := s.uses.take()
	if len(taken) == 0 {
		return
	}
	written := false // all but the commit, which may have happened also when it failed
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		// In the same order by every server: two that lock the same rows in
		// different orders would wait for each other.
		for _, id := range slices.Sorted(maps.Keys(taken)) {
			u, from := taken[id], ""
			if u.from.IsValid() {
				from = u.from.String()
			}
			if err := tx.AddKeyUse(ctx, id, u.count, countersign.At(u.at), from); err != nil {
				return err
			}
		}
		written = true
		return nil
	})
	if err == nil {
		return
	}
	if !written {
		s.uses.giveBack(taken)
	}
	s.log.Warn("the keys' last uses could not be written", "cause", err, "again", !written)
}
