package storedb

import (
	"context"
	"errors"
	"math"

	"github.com/countersign/countersign/internal/sqldb"
)

// numberRows is how many purchases one transaction of the migration gives an id: few
// enough that what was done is seldom lost, and that the write-ahead log stays short.
const numberRows = 10_000

// numberPurchases assigns an id to every purchase that has none, in portions. It can be
// ended at any time and goes on where it was.
func numberPurchases(ctx context.Context, session *sqldb.DB, progress func(done, total int64)) error {
	var total, done, last int64
	err := session.Tx(ctx, func(q sqldb.Queries) error { // outside one, an answer has less time
		_, err := sqldb.One(ctx, q, func(r sqldb.Row) (any, error) {
			return nil, r.Scan(&total, &done, &last)
		}, `SELECT (SELECT count(*) FROM purchases), (SELECT count(*) FROM purchases WHERE id IS NOT NULL), (`+lastPurchaseID+`)`)
		return err
	})
	if err != nil {
		return err
	}
	for after := Digest(-1); done < total && after < math.MaxInt64; {
		progress(done, total)
		err := session.Tx(ctx, func(q sqldb.Queries) error {
			n, end, err := numberSome(ctx, q, after, last)
			done, last, after = done+n, last+n, end
			return err
		})
		if err != nil {
			return err
		}
	}
	progress(total, total)
	return nil
}

// numberSome assigns ids after last to the next purchases after a digest, and returns how
// many had none and the digest of the last one that it looked at.
func numberSome(ctx context.Context, q sqldb.Queries, after Digest, last int64) (n int64, end Digest, err error) {
	end, err = sqldb.One(ctx, q, sqldb.Value[Digest], `SELECT code_digest FROM purchases WHERE code_digest > $1
		ORDER BY code_digest LIMIT 1 OFFSET $2`, after, numberRows-1)
	if errors.Is(err, sqldb.ErrNotFound) {
		end, err = math.MaxInt64, nil
	}
	if err != nil {
		return 0, 0, err
	}
	n, err = q.Exec(ctx, `UPDATE purchases SET id = $3 + n.place FROM (
			SELECT code_digest AS digest, row_number() OVER (ORDER BY code_digest) AS place FROM purchases
			WHERE code_digest > $1 AND code_digest <= $2 AND id IS NULL
		) n WHERE purchases.code_digest = n.digest AND purchases.code_digest > $1 AND purchases.code_digest <= $2`, after, end, last)
	return n, end, err
}

// lastPurchaseID is the highest id of a purchase, 0 without purchases.
const lastPurchaseID = `SELECT coalesce((SELECT id FROM purchases WHERE id IS NOT NULL ORDER BY id DESC LIMIT 1), 0)`

// highestPurchaseID is the highest id that a purchase has or had.
const highestPurchaseID = `SELECT max(id) FROM (SELECT (` + lastPurchaseID + `) AS id UNION ALL SELECT highest FROM removed_ids WHERE kind = 'purchases') used`

// newPurchaseID is the expression for the id of a new purchase, for the row that is
// number place among those that are written at once, after the id base.
func (d *DB) newPurchaseID(base, place string) string {
	if d.DB.DB().Engine() == sqldb.Postgres {
		return `nextval('purchase_ids')` // others write at the same time
	}
	return base + ` + ` + place
}
