package storedb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// SalesBy is what sales are split by.
type SalesBy string

// The splits.
const (
	SalesByDay  SalesBy = "day" // in UTC
	SalesByItem SalesBy = "item"
	// SalesTogether is by currency alone.
	SalesTogether SalesBy = ""
)

// SalesQuery asks for the sales of a time.
type SalesQuery struct {
	// From is the first time of sale, Until the one behind the last.
	From, Until countersign.Timestamp
	By          SalesBy
}

// Sales is how many purchases were sold in one currency.
type Sales struct {
	Day      string // as 2026-01-31; by day
	Item     int64  // by item
	Currency string
	Count    int64
	// Ended is how many of them are not active any more.
	Ended int64
	// Revenue is the sum of their prices, also of those that have ended.
	Revenue countersign.Money
}

// Sales adds up the purchases of a workspace that were sold in a time, in the order of the
// split and of the currencies.
func (d *DB) Sales(ctx context.Context, workspace int64, q SalesQuery) ([]Sales, error) {
	by := "'', 0"
	switch q.By {
	case SalesByDay:
		by = "substr(sold_at, 1, 10), 0"
	case SalesByItem:
		by = "'', item_id"
	}
	return sqldb.List(ctx, d.Queries, scanSales,
		`SELECT `+by+`, currency, count(*), sum(CASE WHEN state = 'active' THEN 0 ELSE 1 END), CAST(sum(price) AS bigint)
		FROM purchases WHERE workspace_id = $1 AND sold_at >= $2 AND sold_at < $3 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
		workspace, column(&q.From), column(&q.Until))
}

func scanSales(r sqldb.Row) (s Sales, err error) {
	err = r.Scan(&s.Day, &s.Item, &s.Currency, &s.Count, &s.Ended, (*int64)(&s.Revenue))
	return s, err
}

// CountLicenses returns how many licenses were issued for purchases of a workspace from a
// time up to another one.
func (d *DB) CountLicenses(ctx context.Context, workspace int64, from, until countersign.Timestamp) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64],
		`SELECT count(*) FROM licenses l JOIN purchases p ON p.id = l.purchase_id
		WHERE l.issued_at >= $2 AND l.issued_at < $3 AND p.workspace_id = $1`, workspace, column(&from), column(&until))
}

// HasItems reports whether a workspace has an item.
func (d *DB) HasItems(ctx context.Context, workspace int64) (bool, error) {
	n, err := sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM (SELECT 1 FROM items WHERE workspace_id = $1 LIMIT 1) one`, workspace)
	return n > 0, err
}

type itemName struct {
	id   int64
	name string
}

// ItemNames returns the names of items of a workspace by their ids.
func (d *DB) ItemNames(ctx context.Context, workspace int64, ids []int64) (map[int64]string, error) {
	names := make(map[int64]string, len(ids))
	for chunk := range slices.Chunk(ids, maxDigests) {
		args, marks := []any{workspace}, make([]string, len(chunk))
		for i, id := range chunk {
			args = append(args, id)
			marks[i] = fmt.Sprintf("$%d", len(args))
		}
		found, err := sqldb.List(ctx, d.Queries, func(r sqldb.Row) (n itemName, err error) {
			err = r.Scan(&n.id, &n.name)
			return n, err
		}, `SELECT id, name FROM items WHERE workspace_id = $1 AND id IN (`+strings.Join(marks, ", ")+`)`, args...)
		if err != nil {
			return nil, err
		}
		for _, n := range found {
			names[n.id] = n.name
		}
	}
	return names, nil
}
