package peopledb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// AuditHead is the end of the chain of seals, and what is known of the entries that
// it is about.
type AuditHead struct {
	// Seq and Hash are those of the last seal; 0 and empty before the first.
	Seq  int64
	Hash []byte
	// Settled is an id: no transaction that is still open can add an entry with a
	// smaller one, and all that there are have a seal.
	Settled int64
	// SeenID becomes Settled once all transactions that were open at SeenAt, those
	// before SeenXmax, are over.
	SeenID, SeenXmax int64
	SeenAt           sqldb.Time
	// CutSeq and CutHash are those of the last seal that was pruned, and CutAt is the
	// time that the pruned entries are older than.
	CutSeq  int64
	CutHash []byte
	CutAt   sqldb.Time
	// BegunAt is when the first seal was made. Entries up to the id Inherited are older.
	BegunAt   sqldb.Time
	Inherited int64
	// MAC is the keyed digest of all others, empty before the chain has begun.
	MAC []byte
}

// AuditHead reads it; [sqldb.ErrNotFound] when somebody has removed it.
func (d *DB) AuditHead(ctx context.Context) (AuditHead, error) {
	return sqldb.One(ctx, d.Queries, func(r sqldb.Row) (h AuditHead, err error) {
		err = r.Scan(&h.Seq, &h.Hash, &h.Settled, &h.SeenID, &h.SeenXmax, &h.SeenAt, &h.CutSeq, &h.CutHash, &h.CutAt, &h.BegunAt, &h.Inherited, &h.MAC)
		return h, err
	}, `SELECT seq, hash, settled, seen_id, seen_xmax, seen_at, cut_seq, cut_hash, cut_at, begun_at, inherited, mac FROM audit_head`)
}

// LockAuditHead is AuditHead, and makes others who lock it wait until the transaction
// ends.
func (d *DB) LockAuditHead(ctx context.Context) (AuditHead, error) {
	if err := d.Lock(ctx, "audit_head", "id", 1); err != nil {
		return AuditHead{}, err
	}
	return d.AuditHead(ctx)
}

// UpdateAuditHead writes it.
func (d *DB) UpdateAuditHead(ctx context.Context, h AuditHead) error {
	return d.Run(ctx, `UPDATE audit_head SET seq = $1, hash = $2, settled = $3, seen_id = $4, seen_xmax = $5, seen_at = $6,
		cut_seq = $7, cut_hash = $8, cut_at = $9, begun_at = $10, inherited = $11, mac = $12`,
		h.Seq, nonNil(h.Hash), h.Settled, h.SeenID, h.SeenXmax, h.SeenAt, h.CutSeq, nonNil(h.CutHash), h.CutAt, h.BegunAt, h.Inherited, nonNil(h.MAC))
}

// nonNil keeps no bytes from being NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// AuditHorizon is how far the audit log can be seen at one moment.
type AuditHorizon struct {
	// Last is the highest id of an entry.
	Last int64
	// All transactions before Xmin are over; those from Xmax on had not begun.
	Xmin, Xmax int64
}

// AuditHorizon reads it. On SQLite, in a transaction, nobody else writes: all others
// are over.
func (d *DB) AuditHorizon(ctx context.Context) (AuditHorizon, error) {
	transactions := `1, 0`
	if d.DB().Engine() == sqldb.Postgres {
		transactions = `txid_snapshot_xmin(txid_current_snapshot()), txid_snapshot_xmax(txid_current_snapshot())`
	}
	return sqldb.One(ctx, d.Queries, func(r sqldb.Row) (h AuditHorizon, err error) {
		err = r.Scan(&h.Last, &h.Xmin, &h.Xmax)
		return h, err
	}, `SELECT coalesce(max(id), 0), `+transactions+` FROM audit`)
}
