package addon

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/sqldb"
)

// writeInterval is how often last uses and requests from apps are written, in one
// batch each.
const writeInterval = time.Minute

// uses counts the calls of each credential in memory, off the request's path.
type uses struct {
	mu   sync.Mutex
	list map[int64]*use
}

type use struct {
	count int64
	at    time.Time
	from  netip.Addr
}

func (u *uses) note(credential int64, at time.Time, from netip.Addr) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.list == nil {
		u.list = make(map[int64]*use)
	}
	one := u.list[credential]
	if one == nil {
		one = new(use)
		u.list[credential] = one
	}
	one.count++
	one.at, one.from = at, from
}

func (u *uses) take() map[int64]*use {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.list
	u.list = nil
	return taken
}

// giveBack adds what could not be written to what came meanwhile.
func (u *uses) giveBack(taken map[int64]*use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, newer := range u.list {
		if older := taken[id]; older != nil {
			newer.count += older.count
		}
		taken[id] = newer
	}
	u.list = taken
}

// writeEvery writes last uses and requests from apps until ctx ends; [Addon.Close]
// writes the rest.
func (a *Addon) writeEvery(ctx context.Context) {
	group.Every(ctx, writeInterval, func(ctx context.Context) {
		a.writeUses(ctx)
		a.writeRequests(ctx)
	})
}

// writeUses writes what was counted since the last time. What can't be written
// now is kept for the next time.
func (a *Addon) writeUses(ctx context.Context) {
	taken := a.uses.take()
	if len(taken) == 0 {
		return
	}
	written := false // all but the commit, which may have happened also when it failed
	err := a.db.Tx(ctx, func(tx *addondb.DB) error {
		// In the same order by every server: two that lock the same rows in
		// different orders would wait for each other.
		for _, id := range slices.Sorted(maps.Keys(taken)) {
			u, from := taken[id], ""
			if u.from.IsValid() {
				from = u.from.String()
			}
			if err := tx.AddCredentialUse(ctx, id, u.count, sqldb.Time{Time: u.at}, from); err != nil {
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
		a.uses.giveBack(taken)
	}
	a.log.Warn("the credentials' last uses could not be written", "cause", err, "again", !written)
}
