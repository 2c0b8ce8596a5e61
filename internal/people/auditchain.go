package people

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// AuditChain seals the audit log of a database, so that nobody without the key file
// can change, remove or insert entries unseen. Each seal is the SHA-256 of the seal
// before it and an entry; the head of the chain, with its length and where it was
// pruned, carries an HMAC under the key file.
//
// Who holds an old copy of the whole database can put it back; that the database alone
// can't show.
type AuditChain struct {
	db  *peopledb.DB
	box func() *keyfile.Box
	now func() time.Time
	log *slog.Logger
	// failing reports that the last attempt to seal failed.
	failing atomic.Bool
}

// NewAuditChain returns the chain of a database. box returns nil until the key file is
// known; nothing is sealed until then.
func NewAuditChain(db *peopledb.DB, box func() *keyfile.Box, now func() time.Time, log *slog.Logger) *AuditChain {
	return &AuditChain{db: db, box: box, now: now, log: log}
}

const (
	entryLabel  = "countersign audit entry 1"
	headPurpose = "audit head 1"
)

var (
	errHeadMissing = fault.Conflict("audit_broken", "The head of the audit log's seals is missing: it was removed from the database")
	errHeadForged  = fault.Conflict("audit_broken", "The head of the audit log's seals was not written with this key file: it was changed in the database")
)

// entryHash is the seal of an entry behind another seal. Each text is written with its
// length before it, so that none can move into its neighbour.
func entryHash(before []byte, e peopledb.AuditText) []byte {
	message := append([]byte(entryLabel), byte(len(before)))
	message = append(message, before...)
	message = binary.BigEndian.AppendUint64(message, uint64(e.ID))
	for _, text := range e.Columns {
		message = appendText(message, text)
	}
	sum := sha256.Sum256(message)
	return sum[:]
}

func appendText(message []byte, text string) []byte {
	return append(binary.AppendUvarint(message, uint64(len(text))), text...)
}

// headMessage is what the MAC of a head is made of.
func headMessage(h peopledb.AuditHead) (message []byte) {
	for _, n := range []int64{h.Seq, h.Settled, h.SeenID, h.SeenXmax, h.CutSeq, h.Inherited} {
		message = binary.BigEndian.AppendUint64(message, uint64(n))
	}
	for _, t := range []sqldb.Time{h.SeenAt, h.CutAt, h.BegunAt} {
		text := ""
		if !t.IsZero() {
			text = t.UTC().Format(time.RFC3339) // whole seconds, as the columns hold them
		}
		message = appendText(message, text)
	}
	return appendText(appendText(message, string(h.Hash)), string(h.CutHash))
}

func validHead(box *keyfile.Box, h peopledb.AuditHead) bool {
	return box.ValidMAC(headPurpose, headMessage(h), h.MAC)
}

// lockHead reads the head for a change, in a transaction, and begins the chain where
// there is none. A head that is missing or was not written with the key file is a
// conflict (audit_broken), and never written over.
func (c *AuditChain) lockHead(ctx context.Context, tx *peopledb.DB, box *keyfile.Box) (peopledb.AuditHead, error) {
	h, err := tx.LockAuditHead(ctx)
	if err != nil {
		return h, sqldb.IfNotFound(err, errHeadMissing)
	}
	if len(h.MAC) == 0 {
		err := begin(ctx, tx, &h, c.now())
		if err == nil {
			c.log.Info("a chain of seals begins for the audit log", "last entry before it", h.Inherited)
		}
		return h, err
	}
	if !validHead(box, h) {
		return h, errHeadForged
	}
	return h, nil
}

// begin makes h the head of a new chain, which the caller signs and writes.
func begin(ctx context.Context, tx *peopledb.DB, h *peopledb.AuditHead, now time.Time) error {
	some, err := tx.HasAuditSeals(ctx)
	if err != nil {
		return err
	}
	if some || h.Seq != 0 {
		return errHeadForged
	}
	horizon, err := tx.AuditHorizon(ctx)
	h.BegunAt, h.Inherited = sqldb.Time{Time: now}, horizon.Last
	return err
}

// saveHead signs and writes the head.
func saveHead(ctx context.Context, tx *peopledb.DB, box *keyfile.Box, h peopledb.AuditHead) error {
	mac := box.MAC(headPurpose, headMessage(h))
	h.MAC = mac[:]
	return tx.UpdateAuditHead(ctx, h)
}

// RekeyAudit brings the head of the chain from an old key file, nil when it is lost, to
// a new one, in the transaction that replaces the key file. checked reports whether the
// old key file confirmed the head; one that it refutes stays as it is.
func RekeyAudit(ctx context.Context, tx *peopledb.DB, old, fresh *keyfile.Box, now time.Time) (checked bool, err error) {
	h, err := tx.LockAuditHead(ctx)
	switch {
	case errors.Is(err, sqldb.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case len(h.MAC) == 0:
		err = begin(ctx, tx, &h, now)
		if errors.Is(err, errHeadForged) {
			return false, nil
		}
	case old != nil && !validHead(old, h):
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return old != nil, saveHead(ctx, tx, fresh, h)
}
