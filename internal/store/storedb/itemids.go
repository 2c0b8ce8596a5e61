package storedb

import (
	"context"
	"errors"
	"strconv"

	"github.com/countersign/countersign/internal/sqldb"
)

// MaxGivenID is the highest id that people may give an item: the highest whole number that
// every reader of JSON keeps.
const MaxGivenID = 1<<53 - 1

// farID is the first id that does not count when the store chooses one. An item that was
// imported with such an id does not use up those below it.
const farID = 1 << 52

// NextItemIDs returns the first of n ids in a row that no item has: those after the highest
// that an item has or had. Others who want one wait until the transaction ends.
func (d *DB) NextItemIDs(ctx context.Context, n int) (int64, error) {
	if err := d.Lock(ctx, "removed_ids", "kind", "items"); err != nil {
		return 0, err
	}
	first, err := sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT max(id) + 1 FROM (
		SELECT coalesce(max(id), 0) AS id FROM items WHERE id < `+strconv.Itoa(farID)+`
		UNION ALL SELECT highest FROM removed_ids WHERE kind = 'items') used`)
	if err != nil {
		return 0, err
	}
	// Only when somebody gave the last id before the far ones, others may follow.
	taken, err := sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT id FROM items WHERE id >= $1 AND id < $2 ORDER BY id LIMIT 1`, first, first+int64(n))
	if errors.Is(err, sqldb.ErrNotFound) {
		return first, nil
	}
	if err != nil {
		return 0, err
	}
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT id + 1 FROM (SELECT id, lead(id) OVER (ORDER BY id) AS following FROM items WHERE id >= $1) i
		WHERE following IS NULL OR following - id > $2 ORDER BY id LIMIT 1`, taken, n)
}

// keepRemovedIDs notes the ids of rows that an undo is about to remove: rows is a query of them.
func (d *DB) keepRemovedIDs(ctx context.Context, table, rows string, args ...any) error {
	return d.Run(ctx, `UPDATE removed_ids SET highest = (SELECT max(id) FROM (SELECT highest AS id UNION ALL
		SELECT r.id FROM (`+rows+`) r WHERE r.id < `+strconv.Itoa(farID)+`) used) WHERE kind = '`+table+`'`, args...)
}
