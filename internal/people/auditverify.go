package people

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// AuditReport is what a verification of the audit log found.
type AuditReport struct {
	// Sealed is how many entries have their seal, and Checked how many of them were
	// compared with it: fewer when only the newest were asked for.
	Sealed, Checked int64
	// Waiting is how many entries have no seal yet, and WaitingSince the time of the
	// first of them.
	Waiting      int64
	WaitingSince time.Time
	// SealedSince is when the chain was begun, zero before that. Entries with an ID up to
	// Inherited were written earlier and sealed as they were.
	SealedSince time.Time
	Inherited   int64
	// PrunedBefore is the time that the pruned entries are older than, zero for none.
	PrunedBefore time.Time
	// LastSeal is the last hash of the chain in hexadecimal digits. Kept elsewhere, it
	// shows later that the log was not replaced as a whole.
	LastSeal string
	// Problems are where the chain breaks, the first ones.
	Problems []AuditProblem
}

// Intact reports whether nothing was found.
func (r AuditReport) Intact() bool { return len(r.Problems) == 0 }

// AuditProblem is one place where the chain breaks.
type AuditProblem struct {
	// Entry is the ID of the entry, 0 where no single one can be named.
	Entry int64
	// Kind is changed, missing, removed, inserted, rewritten or head.
	Kind string
	Text string
}

// NewestAudits is how many entries a check compares that must not take long.
const NewestAudits = 10_000

// maxProblems is how many problems a report lists.
const maxProblems = 20

// errEnough ends a scan whose report is full.
var errEnough = errors.New("people: enough problems")

// Verify compares all entries of the audit log with their seals.
func (c *AuditChain) Verify(ctx context.Context, a Actor) (AuditReport, error) {
	return c.VerifyNewest(ctx, a, 0)
}

// VerifyNewest compares only the newest entries with their seals, which takes a moment
// also where there are many; 0 means all.
func (c *AuditChain) VerifyNewest(ctx context.Context, a Actor, newest int64) (AuditReport, error) {
	if err := may(a, manage); err != nil {
		return AuditReport{}, err
	}
	box := c.box()
	if box == nil {
		return AuditReport{}, errNotReady
	}
	w := &auditScan{box: box}
	err := c.db.Snapshot(ctx, func(db *peopledb.DB) error { return w.scan(ctx, db, newest) })
	if errors.Is(err, errEnough) {
		err = nil
	}
	return w.report, err
}

// auditScan goes along the chain.
type auditScan struct {
	box    *keyfile.Box
	report AuditReport
	head   peopledb.AuditHead
	found  bool // there is a head
	signed bool // the head is as it was written
	// seq and hash are those of the seal before; a nil hash is not known.
	seq   int64
	hash  []byte
	entry int64 // of the seal before
}

func (w *auditScan) problem(entry int64, kind, text string, args ...any) error {
	w.report.Problems = append(w.report.Problems, AuditProblem{entry, kind, fmt.Sprintf(text, args...)})
	if len(w.report.Problems) == maxProblems {
		return errEnough
	}
	return nil
}

func (w *auditScan) scan(ctx context.Context, db *peopledb.DB, newest int64) error {
	if err := w.readHead(ctx, db); err != nil {
		return err
	}
	first, err := w.start(ctx, db, newest)
	if err != nil {
		return err
	}
	if err := db.EachSealedAudit(ctx, w.seq, w.seal); err != nil {
		return err
	}
	if err := w.end(); err != nil {
		return err
	}
	if err := w.outside(ctx, db); err != nil {
		return err
	}
	return w.unsealed(ctx, db, first)
}

// readHead reads what the head says, and whether it can be believed.
func (w *auditScan) readHead(ctx context.Context, db *peopledb.DB) (err error) {
	w.head, err = db.AuditHead(ctx)
	if errors.Is(err, sqldb.ErrNotFound) {
		return w.problem(0, "head", "the head of the seals is missing: entries at the end may have been removed")
	}
	if err != nil {
		return err
	}
	w.found = true
	r, h := &w.report, w.head
	r.Sealed, r.SealedSince, r.Inherited = h.Seq-h.CutSeq, h.BegunAt.Time, h.Inherited
	r.PrunedBefore, r.LastSeal = h.CutAt.Time, hex.EncodeToString(h.Hash)
	w.signed = validHead(w.box, h)
	if w.signed || (len(h.MAC) == 0 && h.Seq == 0) {
		return nil
	}
	return w.problem(0, "head", "the head of the seals was not written with this key file: entries at the end may have been removed")
}

// start finds the seal that the scan begins behind: the cut, or the one before the
// newest. first is the id of its entry, the smallest number where there is none.
func (w *auditScan) start(ctx context.Context, db *peopledb.DB, newest int64) (first int64, err error) {
	w.seq, w.hash = w.head.CutSeq, w.head.CutHash
	if w.hash == nil {
		w.hash = []byte{}
	}
	if newest <= 0 || w.head.Seq-newest <= w.seq {
		return math.MinInt64, nil
	}
	s, err := db.AuditSeal(ctx, w.head.Seq-newest)
	if errors.Is(err, sqldb.ErrNotFound) {
		return math.MinInt64, nil // it is missing: the scan from the beginning says where
	}
	w.seq, w.hash, w.entry = s.Seq, s.Hash, s.AuditID
	return s.AuditID, err
}

// seal compares one entry with its seal.
func (w *auditScan) seal(s peopledb.SealedAudit) error {
	before := w.hash
	gap := s.Seq != w.seq+1
	missing := s.Seq - w.seq - 1
	last := w.entry
	beyond := w.signed && s.Seq > w.head.Seq
	w.seq, w.hash, w.entry = s.Seq, s.Hash, s.AuditID
	w.report.Checked++
	switch {
	case beyond:
		return w.problem(s.AuditID, "inserted", "entry %d was sealed without the key file", s.AuditID)
	case gap && s.Entry.ID == 0:
		return w.problem(s.AuditID, "missing", "entry %d and %d before it, behind entry %d, were removed", s.AuditID, missing, last)
	case gap:
		return w.problem(last, "missing", "%d entries between entry %d and entry %d were removed", missing, last, s.AuditID)
	case s.Entry.ID == 0:
		return w.problem(s.AuditID, "missing", "entry %d was removed", s.AuditID)
	case !bytes.Equal(entryHash(before, s.Entry), s.Hash):
		return w.problem(s.AuditID, "changed", "entry %d or its seal was changed, or all earlier seals were replaced", s.AuditID)
	}
	return nil
}

// end compares the last seal with the head.
func (w *auditScan) end() error {
	switch {
	case w.found && len(w.head.MAC) == 0 && w.head.Seq == 0 && w.seq > 0:
		return w.problem(0, "head", "the head of the seals was reset")
	case !w.signed:
		return nil // said already
	case w.seq < w.head.Seq:
		return w.problem(w.entry, "removed", "the last %d entries, behind entry %d, were removed", w.head.Seq-w.seq, w.entry)
	case w.seq == w.head.Seq && !bytes.Equal(w.hash, w.head.Hash):
		return w.problem(0, "rewritten", "the seals were replaced without the key file: unknown entries were changed or removed")
	}
	return nil
}

// outside finds seals in front of the chain's beginning. Prune leaves none there; they
// would pass off their entries as sealed.
func (w *auditScan) outside(ctx context.Context, db *peopledb.DB) error {
	ids, err := db.SealedUpTo(ctx, w.head.CutSeq, maxProblems)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := w.problem(id, "inserted", "entry %d has an inserted seal before the beginning of the chain", id); err != nil {
			return err
		}
	}
	return nil
}

// unsealed finds entries that were inserted where all others are sealed, and counts
// those that wait.
func (w *auditScan) unsealed(ctx context.Context, db *peopledb.DB, first int64) error {
	ids, err := db.UnsealedUpTo(ctx, first, w.head.Settled, maxProblems)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := w.problem(id, "inserted", "entry %d was inserted later, or its seal was removed", id); err != nil {
			return err
		}
	}
	var since string
	if w.report.Waiting, since, err = db.CountUnsealed(ctx, w.head.Settled); err != nil {
		return err
	}
	w.report.WaitingSince, _ = time.Parse(time.RFC3339, since) // an entry with no time has the zero one
	return nil
}
