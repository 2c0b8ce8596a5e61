package storedb

import (
	"context"
	"slices"

	"github.com/countersign/countersign/internal/sqldb"
)

// rekeyPage is how many codes are read at once, and rekeyRows how many digests
// are written at once.
const (
	rekeyPage = 10_000
	rekeyRows = 500
)

// RebuildDigests sets every purchase's digest to digest(code). It runs in the
// transaction of a session and stages the new digests first, so that they do not
// conflict with old ones.
func (d *DB) RebuildDigests(ctx context.Context, digest func(code string) Digest) error {
	if err := d.Run(ctx, `CREATE TEMPORARY TABLE rekeyed (code_digest bigint PRIMARY KEY, fresh bigint)`); err != nil {
		return err
	}
	after := Digest(-1)
	for {
		page, err := sqldb.List(ctx, d.Queries, scanCode, `SELECT code_digest, code FROM purchases
			WHERE code_digest > $1 ORDER BY code_digest LIMIT $2`, after, rekeyPage)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(page, rekeyRows) {
			if err := d.stageDigests(ctx, part, digest); err != nil {
				return err
			}
		}
		if len(page) < rekeyPage {
			break
		}
		after = page[len(page)-1].digest
	}
	return d.Change(ctx, TopicPurchases, `UPDATE purchases SET code_digest = r.fresh FROM rekeyed r WHERE r.code_digest = purchases.code_digest`)
}

// KeepClaims writes down what claim says of the purchases of all licenses for which
// nothing is written yet.
func (d *DB) KeepClaims(ctx context.Context, claim func(code string) string) error {
	type row struct{ id, code string }
	for {
		page, err := sqldb.List(ctx, d.Queries, func(r sqldb.Row) (l row, err error) {
			err = r.Scan(&l.id, &l.code)
			return l, err
		}, `SELECT l.id, p.code FROM licenses l JOIN purchases p ON p.id = l.purchase_id WHERE l.claim IS NULL LIMIT $1`, rekeyPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, l := range page {
			if err := d.Run(ctx, `UPDATE licenses SET claim = $1 WHERE id = $2`, claim(l.code), l.id); err != nil {
				return err
			}
		}
	}
}

// stageDigests writes the old and the new digests of some codes in one statement.
func (d *DB) stageDigests(ctx context.Context, codes []codeRow, digest func(code string) Digest) error {
	args := make([]any, 0, 2*len(codes))
	for _, c := range codes {
		args = append(args, c.digest, digest(c.code))
	}
	return d.Run(ctx, `INSERT INTO rekeyed (code_digest, fresh) VALUES `+sqldb.Placeholders(len(codes), 2, 1), args...)
}

type codeRow struct {
	digest Digest
	code   string
}

func scanCode(r sqldb.Row) (c codeRow, err error) {
	err = r.Scan(&c.digest, &c.code)
	return c, err
}
