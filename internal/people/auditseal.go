package people

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	sealInterval = time.Second
	// sealBatch is how many entries one transaction seals, and sealPause what others
	// have to write between two full ones.
	sealBatch = 500
	sealPause = 50 * time.Millisecond
	// settleAfter is how old a look at the open transactions must be on PostgreSQL: a
	// transaction takes the id of an entry a moment before others can see it begin.
	settleAfter = 3 * time.Second
	// clockError is how far the clocks of two servers may be apart.
	clockError = time.Hour
)

// Run seals new entries until ctx ends, within a second, outside the transactions that
// write them.
func (c *AuditChain) Run(ctx context.Context) {
	var last error
	for {
		full, err := c.sealSome(ctx)
		if err != nil && ctx.Err() == nil && (last == nil || err.Error() != last.Error()) {
			c.log.Error("the audit log could not be sealed", "cause", err)
		}
		last = err
		c.failing.Store(err != nil)
		wait := sealInterval
		if full {
			wait = sealPause
		}
		if !group.Sleep(ctx, wait, nil) {
			return
		}
	}
}

// Failing reports whether the last attempt of Run to seal entries failed.
func (c *AuditChain) Failing() bool { return c.failing.Load() }

// Unsealed counts the entries without a seal, and says for how long the first of them has
// been without one.
func (c *AuditChain) Unsealed(ctx context.Context) (entries int64, longest time.Duration, err error) {
	h, err := c.db.AuditHead(ctx)
	if err != nil {
		return 0, 0, sqldb.IfNotFound(err, errHeadMissing)
	}
	entries, since, err := c.db.CountUnsealed(ctx, h.Settled)
	if err != nil || entries == 0 {
		return 0, 0, err
	}
	first, err := time.Parse(time.RFC3339, since)
	return entries, max(0, c.now().Sub(first)), err
}

// SealNow seals what a command has written, up to one batch; the next server seals the
// rest. That it can't is logged.
func (c *AuditChain) SealNow(ctx context.Context) {
	if _, err := c.sealSome(ctx); err != nil {
		c.log.Warn("the audit log could not be sealed", "cause", err)
	}
}

// sealAll seals all entries.
func (c *AuditChain) sealAll(ctx context.Context) error {
	for {
		if full, err := c.sealSome(ctx); err != nil || !full {
			return err
		}
	}
}

// sealSome seals one batch of entries, if there is something to do, and reports whether
// it was a full one.
func (c *AuditChain) sealSome(ctx context.Context) (full bool, err error) {
	box := c.box()
	if box == nil {
		return false, nil
	}
	if due, err := c.due(ctx); err != nil || !due {
		return false, err
	}
	err = c.db.Tx(ctx, func(tx *peopledb.DB) error {
		h, err := c.lockHead(ctx, tx, box)
		if err != nil {
			return err
		}
		full, err = c.extend(ctx, tx, box, h)
		return err
	})
	return full && err == nil, err
}

// due looks, outside a transaction, whether there is something to write.
func (c *AuditChain) due(ctx context.Context) (bool, error) {
	h, err := c.db.AuditHead(ctx)
	if err != nil {
		return false, sqldb.IfNotFound(err, errHeadMissing)
	}
	if some, err := c.db.HasUnsealed(ctx, h.Settled); some || err != nil {
		return some, err
	}
	age := c.now().Sub(h.SeenAt.Time)
	if h.SeenID <= h.Settled || (age < settleAfter && age > -clockError) {
		return false, nil
	}
	horizon, err := c.db.AuditHorizon(ctx)
	return horizon.Xmin >= h.SeenXmax || c.isForeign(h, horizon), err
}

// isForeign reports whether a look at the open transactions means nothing here: it was
// made on another PostgreSQL, from which the database was moved by a dump and whose
// transactions have higher numbers, or by a clock that was ahead.
func (c *AuditChain) isForeign(h peopledb.AuditHead, now peopledb.AuditHorizon) bool {
	return now.Xmax < h.SeenXmax || h.SeenAt.Sub(c.now()) >= clockError
}

// extend seals the next entries behind h.
func (c *AuditChain) extend(ctx context.Context, tx *peopledb.DB, box *keyfile.Box, h peopledb.AuditHead) (full bool, err error) {
	horizon, err := tx.AuditHorizon(ctx) // first: it shows no more entries than the list
	if err != nil {
		return false, err
	}
	entries, err := tx.UnsealedAudits(ctx, h.Settled, sealBatch)
	if err != nil {
		return false, err
	}
	seals := make([]peopledb.AuditSeal, len(entries))
	for i, e := range entries {
		h.Seq, h.Hash = h.Seq+1, entryHash(h.Hash, e)
		seals[i] = peopledb.AuditSeal{Seq: h.Seq, AuditID: e.ID, Hash: h.Hash}
	}
	if err := tx.AddAuditSeals(ctx, seals); err != nil {
		return false, err
	}
	full = len(entries) == sealBatch
	sealed := horizon.Last // all up to here that can be seen
	if full {
		sealed = min(sealed, entries[len(entries)-1].ID)
	}
	c.settle(tx.DB().Engine(), &h, horizon, sealed)
	return full, saveHead(ctx, tx, box, h)
}

// settle moves Settled on. Entries up to sealed that can be seen have their seals. On
// PostgreSQL an open transaction may still add one with a smaller id, so Settled waits
// until all that were open at an earlier look are over.
func (c *AuditChain) settle(e sqldb.Engine, h *peopledb.AuditHead, horizon peopledb.AuditHorizon, sealed int64) {
	if e == sqldb.SQLite {
		h.Settled = max(h.Settled, sealed)
		return
	}
	if horizon.Xmin >= h.SeenXmax && c.now().Sub(h.SeenAt.Time) >= settleAfter {
		h.Settled = max(h.Settled, min(h.SeenID, sealed))
	}
	if (h.SeenID <= h.Settled || c.isForeign(*h, horizon)) && horizon.Last > h.Settled {
		h.SeenID, h.SeenXmax, h.SeenAt = horizon.Last, horizon.Xmax, sqldb.Time{Time: c.now()}
	}
}
