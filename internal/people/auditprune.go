package people

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// pruneBatch is how many entries one transaction removes.
const pruneBatch = 1000

// PlanPrune counts the entries that [AuditChain.Prune] would remove.
func (c *AuditChain) PlanPrune(ctx context.Context, a Actor, before time.Time) (int64, error) {
	if err := may(a, operate); err != nil {
		return 0, err
	}
	h, err := c.db.AuditHead(ctx)
	if err != nil {
		return 0, sqldb.IfNotFound(err, errHeadMissing)
	}
	last, err := c.db.LastAuditBefore(ctx, sqldb.Time{Time: before})
	return max(0, last-h.CutSeq), err
}

// Prune removes the entries older than a time, up to the first that is not, and leaves
// a cut that the next ones are verified from. It seals what waits first. A log that was
// tampered with is a conflict (audit_broken) and stays as it is: it is evidence. It
// returns how many entries were removed.
func (c *AuditChain) Prune(ctx context.Context, a Actor, before time.Time) (int64, error) {
	if err := may(a, operate); err != nil {
		return 0, err
	}
	box := c.box()
	if box == nil {
		return 0, errNotReady
	}
	if err := c.sealAll(ctx); err != nil {
		return 0, err
	}
	report, err := c.Verify(ctx, a)
	if err != nil {
		return 0, err
	}
	if !report.Intact() {
		return 0, fault.Conflict("audit_broken", "The audit log was tampered with, so nothing was pruned: "+report.Problems[0].Text)
	}
	last, err := c.db.LastAuditBefore(ctx, sqldb.Time{Time: before})
	if err != nil {
		return 0, err
	}
	cut := pruning{box: box, actor: a, before: sqldb.Time{Time: before}, last: last}
	for done := false; !done && err == nil; {
		done, err = c.pruneSome(ctx, &cut)
	}
	return cut.removed, err
}

// pruning is one run of Prune.
type pruning struct {
	box     *keyfile.Box
	actor   Actor
	before  sqldb.Time
	last    int64 // the last seal to be removed
	removed int64
}

// pruneSome removes one batch in a transaction of its own, whose cut is as good as the
// last one.
func (c *AuditChain) pruneSome(ctx context.Context, p *pruning) (done bool, err error) {
	var removed int64
	err = c.db.Tx(ctx, func(tx *peopledb.DB) error {
		h, err := c.lockHead(ctx, tx, p.box)
		if err != nil {
			return err
		}
		if done = h.CutSeq >= p.last; done {
			return nil
		}
		if p.removed == 0 {
			e := Event{Action: ActionAuditPrune, Subject: "entries before " + p.before.UTC().Format(time.RFC3339), Detail: fmt.Sprintf("%d entries removed", p.last-h.CutSeq)}
			if err := Record(ctx, tx, c.now(), p.actor, e); err != nil {
				return err
			}
		}
		s, err := tx.AuditSeal(ctx, min(h.CutSeq+pruneBatch, p.last))
		if err != nil {
			return err
		}
		removed = s.Seq - h.CutSeq
		h.CutSeq, h.CutHash, h.CutAt = s.Seq, s.Hash, p.before
		if err := tx.DeleteSealedAudits(ctx, s.Seq); err != nil {
			return err
		}
		return saveHead(ctx, tx, p.box, h)
	})
	if err == nil {
		p.removed += removed
	}
	return done, err
}
