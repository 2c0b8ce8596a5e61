package peopledb

import (
	"context"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/sqldb"
)

// AuditText is an entry of the audit log as its columns hold it, for its hash.
type AuditText struct {
	ID int64
	// Columns are all others in the order of auditColumns; the zero value stands for a
	// missing entry.
	Columns [11]string
}

var auditColumns = [11]string{"at", "actor_kind", "actor", "face", "address", "action", "workspace", "subject", "detail", "before", "after"}

// selectAuditText reads an AuditText of a table a, which may be missing.
func selectAuditText() string {
	return "coalesce(a.id, 0), coalesce(a." + strings.Join(auditColumns[:], ", ''), coalesce(a.") + ", '')"
}

func (a *AuditText) dest() []any {
	dest := []any{&a.ID}
	for i := range a.Columns {
		dest = append(dest, &a.Columns[i])
	}
	return dest
}

// AuditSeal is the seal of one entry.
type AuditSeal struct {
	Seq, AuditID int64
	Hash         []byte
}

// SealedAudit is a seal with its entry. The entry's ID is 0 when it is missing.
type SealedAudit struct {
	AuditSeal
	Entry AuditText
}

// unsealed are the entries a behind $1 that have no seal. PostgreSQL makes no join of
// such a subquery: it would read all seals for the few entries behind $1.
const unsealed = ` FROM audit a WHERE a.id > $1 AND (SELECT s.seq FROM audit_seals s WHERE s.audit_id = a.id) IS NULL `

// HasUnsealed reports whether an entry behind an id has no seal.
func (d *DB) HasUnsealed(ctx context.Context, after int64) (bool, error) {
	found, err := sqldb.List(ctx, d.Queries, sqldb.Value[int64], `SELECT a.id`+unsealed+`ORDER BY a.id LIMIT 1`, after)
	return len(found) > 0, err
}

// UnsealedAudits lists entries behind an id that have no seal, by their ids.
func (d *DB) UnsealedAudits(ctx context.Context, after int64, limit int) ([]AuditText, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (a AuditText, err error) {
		err = r.Scan(a.dest()...)
		return a, err
	},
		`SELECT `+selectAuditText()+unsealed+`ORDER BY a.id LIMIT $2`, after, limit)
}

// UnsealedUpTo lists the ids of entries between two that have no seal.
func (d *DB) UnsealedUpTo(ctx context.Context, after, last int64, limit int) ([]int64, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[int64], `SELECT a.id`+unsealed+`AND a.id <= $2 ORDER BY a.id LIMIT $3`, after, last, limit)
}

// CountUnsealed counts the entries behind an id that have no seal. since is the time
// of the first as its column has it, "" when there is none.
func (d *DB) CountUnsealed(ctx context.Context, after int64) (n int64, since string, err error) {
	_, err = sqldb.One(ctx, d.Queries, func(r sqldb.Row) (struct{}, error) {
		return struct{}{}, r.Scan(&n, &since)
	}, `SELECT count(*), coalesce(min(a.at), '')`+unsealed, after)
	return n, since, err
}

// sealsAtOnce is how many seals one statement writes.
const sealsAtOnce = 50

// AddAuditSeals writes new seals.
func (d *DB) AddAuditSeals(ctx context.Context, seals []AuditSeal) error {
	for part := range slices.Chunk(seals, sealsAtOnce) {
		args := make([]any, 0, 3*len(part))
		for _, s := range part {
			args = append(args, s.Seq, s.AuditID, s.Hash)
		}
		if err := d.Run(ctx, `INSERT INTO audit_seals (seq, audit_id, hash) VALUES `+sqldb.Placeholders(len(part), 3, 1), args...); err != nil {
			return err
		}
	}
	return nil
}

// HasAuditSeals reports whether there is any.
func (d *DB) HasAuditSeals(ctx context.Context) (bool, error) {
	found, err := sqldb.List(ctx, d.Queries, sqldb.Value[int64], `SELECT seq FROM audit_seals LIMIT 1`)
	return len(found) > 0, err
}

// SealedUpTo lists the ids of entries whose seals have numbers up to last.
func (d *DB) SealedUpTo(ctx context.Context, last int64, limit int) ([]int64, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[int64], `SELECT audit_id FROM audit_seals WHERE seq <= $1 ORDER BY seq LIMIT $2`, last, limit)
}

// AuditSeal reads the seal with a number.
func (d *DB) AuditSeal(ctx context.Context, seq int64) (AuditSeal, error) {
	return sqldb.One(ctx, d.Queries, func(r sqldb.Row) (s AuditSeal, err error) {
		err = r.Scan(&s.Seq, &s.AuditID, &s.Hash)
		return s, err
	}, `SELECT seq, audit_id, hash FROM audit_seals WHERE seq = $1`, seq)
}

// EachSealedAudit calls fn with the seals behind a number, in their order.
func (d *DB) EachSealedAudit(ctx context.Context, after int64, fn func(SealedAudit) error) error {
	return sqldb.Each(ctx, d.Queries, func(r sqldb.Row) (s SealedAudit, err error) {
		err = r.Scan(append([]any{&s.Seq, &s.AuditID, &s.Hash}, s.Entry.dest()...)...)
		return s, err
	}, fn, `SELECT s.seq, s.audit_id, s.hash, `+selectAuditText()+`
		FROM audit_seals s LEFT JOIN audit a ON a.id = s.audit_id WHERE s.seq > $1 ORDER BY s.seq`, after)
}

// LastAuditBefore is the number of the last seal before which all entries are older
// than a time, 0 when there is none.
func (d *DB) LastAuditBefore(ctx context.Context, before sqldb.Time) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT coalesce(
		(SELECT min(s.seq) - 1 FROM audit_seals s JOIN audit a ON a.id = s.audit_id WHERE a.at >= $1),
		(SELECT max(seq) FROM audit_seals), 0)`, before)
}

// DeleteSealedAudits removes the entries of the seals up to a number, and the seals.
func (d *DB) DeleteSealedAudits(ctx context.Context, last int64) error {
	if err := d.Run(ctx, `DELETE FROM audit WHERE id IN (SELECT audit_id FROM audit_seals WHERE seq <= $1)`, last); err != nil {
		return err
	}
	return d.Run(ctx, `DELETE FROM audit_seals WHERE seq <= $1`, last)
}
