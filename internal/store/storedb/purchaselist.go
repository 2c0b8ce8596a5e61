package storedb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// PurchaseFilter narrows a list of purchases; zero values narrow nothing.
type PurchaseFilter struct {
	Item  int64
	State State
	// From and Until are the times of sale: From is the first, Until the one behind the last.
	From, Until countersign.Timestamp
	Limit       int
}

// conditions is the SQL of the filter for a workspace, which is $1, and its arguments.
func (f PurchaseFilter) conditions(workspace int64) (where []string, args []any) {
	where, args = []string{"workspace_id = $1"}, []any{workspace}
	add := func(condition string, value any) {
		args = append(args, value)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	if f.Item != 0 {
		where[0] = "+workspace_id = $1" // or SQLite counts in an index of the whole workspace
		add("item_id = $%d", f.Item)
	}
	if f.State != "" {
		add("state = $%d", string(f.State))
		if f.State != StateActive {
			where = append(where, "state <> 'active'") // of the index, which can't be known from an argument
		}
	}
	if !f.From.IsZero() {
		add("sold_at >= $%d", column(&f.From))
	}
	if !f.Until.IsZero() {
		add("sold_at < $%d", column(&f.Until))
	}
	return where, args
}

// Purchases calls fn with a workspace's purchases, newest first.
func (d *DB) Purchases(ctx context.Context, workspace int64, f PurchaseFilter, fn func(Purchase) error) error {
	where, args := f.conditions(workspace)
	query := `SELECT ` + purchaseColumns + ` FROM purchases WHERE ` + strings.Join(where, " AND ") + ` ORDER BY sold_at DESC, code_digest`
	if f.Limit != 0 {
		args = append(args, f.Limit)
		query += fmt.Sprintf(" LIMIT $%d", len(args))
	}
	return sqldb.Each(ctx, d.Queries, scanPurchase, fn, query, args...)
}

// OlderPurchases lists the purchases behind one in the order of [DB.Purchases].
func (d *DB) OlderPurchases(ctx context.Context, f PurchaseFilter, than Purchase) ([]Purchase, error) {
	return d.purchasesBeside(ctx, f, than, "sold_at <= $%[1]d AND (sold_at < $%[1]d OR code_digest > $%[2]d)", "sold_at DESC, code_digest")
}

// NewerPurchases lists the purchases before one, in the order of [DB.Purchases], the nearest.
func (d *DB) NewerPurchases(ctx context.Context, f PurchaseFilter, than Purchase) ([]Purchase, error) {
	list, err := d.purchasesBeside(ctx, f, than, "sold_at >= $%[1]d AND (sold_at > $%[1]d OR code_digest < $%[2]d)", "sold_at, code_digest DESC")
	slices.Reverse(list)
	return list, err
}

func (d *DB) purchasesBeside(ctx context.Context, f PurchaseFilter, than Purchase, beside, order string) ([]Purchase, error) {
	where, args := f.conditions(than.WorkspaceID)
	args = append(args, column(&than.SoldAt), than.Digest, f.Limit)
	where = append(where, fmt.Sprintf(beside, len(args)-2, len(args)-1))
	return sqldb.List(ctx, d.Queries, scanPurchase,
		fmt.Sprintf(`SELECT %s FROM purchases WHERE %s ORDER BY %s LIMIT $%d`, purchaseColumns, strings.Join(where, " AND "), order, len(args)), args...)
}

// CountPurchases returns how many of a workspace's purchases a filter wants, most at most.
func (d *DB) CountPurchases(ctx context.Context, workspace int64, f PurchaseFilter, most int) (int64, error) {
	where, args := f.conditions(workspace)
	args = append(args, most)
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64],
		fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM purchases WHERE %s LIMIT $%d) few`, strings.Join(where, " AND "), len(args)), args...)
}

// maxDigests is how many digests one query looks for.
const maxDigests = 500

// PurchasesOf lists the purchases of a workspace that have one of some digests.
func (d *DB) PurchasesOf(ctx context.Context, workspace int64, digests []Digest) ([]Purchase, error) {
	var all []Purchase
	for chunk := range slices.Chunk(digests, maxDigests) {
		args, marks := []any{workspace}, make([]string, len(chunk))
		for i, digest := range chunk {
			args = append(args, digest)
			marks[i] = fmt.Sprintf("$%d", len(args))
		}
		found, err := sqldb.List(ctx, d.Queries, scanPurchase,
			`SELECT `+purchaseColumns+` FROM purchases WHERE workspace_id = $1 AND code_digest IN (`+strings.Join(marks, ", ")+`)`, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
