package storedb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	// From is the first day of sale in UTC, Until the one behind the last.
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

// Compare compares sales by item and currency.
func (s Sales) Compare(b Sales) int {
	return cmp.Or(cmp.Compare(s.Item, b.Item), cmp.Compare(s.Currency, b.Currency))
}

// Plus adds the sales of the same item in the same currency sign times.
func (s Sales) Plus(b Sales, sign int64) Sales {
	return Sales{
		Item: b.Item, Currency: b.Currency,
		Count: s.Count + sign*b.Count, Ended: s.Ended + sign*b.Ended, Revenue: s.Revenue + countersign.Money(sign)*b.Revenue,
	}
}

// IsZero reports whether nothing was sold.
func (s Sales) IsZero() bool { return s.Count == 0 }

// SalesOfDays adds up the purchases of a workspace that were sold in a time, together or by day,
// in the order of the days and of the currencies. They are added up as purchases are written.
func (d *DB) SalesOfDays(ctx context.Context, workspace int64, q SalesQuery) ([]Sales, error) {
	by := "''"
	if q.By == SalesByDay {
		by = "day"
	}
	return sqldb.List(ctx, d.Queries, scanSales,
		`SELECT `+by+`, 0, currency, CAST(sum(sold) AS bigint), CAST(sum(ended) AS bigint), CAST(sum(revenue) AS bigint)
		FROM sales_days WHERE workspace_id = $1 AND day >= $2 AND day < $3 GROUP BY 1, 3 HAVING sum(sold) <> 0 ORDER BY 1, 3`,
		workspace, dayText(q.From.Time), dayText(q.Until.Time))
}

func dayText(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// SalesByItem adds up the purchases of a workspace by item, in the order of the items and of
// the currencies: those that were sold from a day up to another one.
func (d *DB) SalesByItem(ctx context.Context, workspace int64, from, until time.Time) ([]Sales, error) {
	return sqldb.List(ctx, d.Queries, scanSales, `SELECT '', item_id, currency, count(*), sum(CASE WHEN state = 'active' THEN 0 ELSE 1 END), CAST(sum(price) AS bigint)
		FROM purchases WHERE workspace_id = $1 AND sold_at >= $2 AND sold_at < $3 GROUP BY 2, 3 ORDER BY 2, 3`, workspace, dayText(from), dayText(until))
}

// Month is a month of which something is added up by item.
type Month struct {
	Month string // as 2026-01
	// Version grows with every change of its sums.
	Version int64
}

func scanMonth(r sqldb.Row) (m Month, err error) {
	err = r.Scan(&m.Month, &m.Version)
	return m, err
}

// SalesMonths lists the months of a workspace from one up to another one.
func (d *DB) SalesMonths(ctx context.Context, workspace int64, from, until time.Time) ([]Month, error) {
	return sqldb.List(ctx, d.Queries, scanMonth, `SELECT substr(day, 1, 7), CAST(sum(changes) AS bigint) FROM sales_days WHERE workspace_id = $1 AND day >= $2 AND day < $3 GROUP BY 1 ORDER BY 1`,
		workspace, dayText(from), dayText(until))
}

// SalesOfMonth returns the sums of a month by item, in the order of the items and of the currencies.
func (d *DB) SalesOfMonth(ctx context.Context, workspace int64, month string) ([]Sales, error) {
	return sqldb.List(ctx, d.Queries, scanSales, `SELECT '', item_id, currency, sold, ended, revenue FROM sales_items
		WHERE workspace_id = $1 AND month = $2 AND sold <> 0 ORDER BY item_id, currency`, workspace, month)
}

// WrongSales compares the sums of some purchases, limit at most, with the purchases: those
// from a digest on, which is a fair sample. It returns how many of them have a wrong sum. Sums of more than most are
// not compared.
func (d *DB) WrongSales(ctx context.Context, from Digest, limit int, most int64) (wrong int64, err error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], wrongSales, from, limit, most)
}

// wrongSales finds the purchases of an item by its index: no index begins with an expression.
const wrongSales = `SELECT count(*)
	FROM (SELECT workspace_id, item_id, currency, sold_at FROM purchases WHERE code_digest >= $1 ORDER BY code_digest LIMIT $2) p
	LEFT JOIN sales_days d ON d.workspace_id = p.workspace_id AND d.day = substr(p.sold_at, 1, 10) AND d.currency = p.currency
	LEFT JOIN sales_items i ON i.workspace_id = p.workspace_id AND i.item_id = p.item_id AND i.currency = p.currency AND i.month = substr(p.sold_at, 1, 7)
	WHERE d.sold IS NULL OR i.sold IS NULL OR CASE WHEN d.sold > $3 THEN 0 ELSE (
		SELECT CASE WHEN count(*) = d.sold AND sum(q.price) = d.revenue AND sum(CASE WHEN q.state = 'active' THEN 0 ELSE 1 END) = d.ended THEN 0 ELSE 1 END
		FROM purchases q WHERE q.workspace_id = p.workspace_id AND q.currency = p.currency
			AND q.sold_at >= d.day AND q.sold_at < d.day || '~'
	) END = 1 OR CASE WHEN i.sold > $3 THEN 0 ELSE (
		SELECT CASE WHEN count(*) = i.sold AND sum(q.price) = i.revenue AND sum(CASE WHEN q.state = 'active' THEN 0 ELSE 1 END) = i.ended THEN 0 ELSE 1 END
		FROM purchases q WHERE q.item_id = p.item_id AND q.workspace_id + 0 = p.workspace_id AND q.currency = p.currency
			AND q.sold_at >= i.month AND q.sold_at < i.month || '~'
	) END = 1`

// StraySales returns how many items have sold purchases of another workspace than theirs.
func (d *DB) StraySales(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(DISTINCT s.item_id) FROM sales_items s JOIN items i ON i.id = s.item_id
		WHERE i.workspace_id <> s.workspace_id AND s.sold > 0`)
}

// StraySample is StraySales for some purchases, limit at most: those from a digest on.
func (d *DB) StraySample(ctx context.Context, from Digest, limit int) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], straySample, from, limit)
}

const straySample = `SELECT count(DISTINCT p.item_id)
	FROM (SELECT item_id, workspace_id FROM purchases WHERE code_digest >= $1 ORDER BY code_digest LIMIT $2) p
	JOIN items i ON i.id = p.item_id WHERE i.workspace_id <> p.workspace_id`

func scanSales(r sqldb.Row) (s Sales, err error) {
	err = r.Scan(&s.Day, &s.Item, &s.Currency, &s.Count, &s.Ended, (*int64)(&s.Revenue))
	return s, err
}

// HasItems reports whether a workspace has an item.
func (d *DB) HasItems(ctx context.Context, workspace int64) (bool, error) {
	n, err := sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM (SELECT 1 FROM items WHERE workspace_id = $1 LIMIT 1) one`, workspace)
	return n > 0, err
}

// HasPurchases reports whether a workspace has a purchase.
func (d *DB) HasPurchases(ctx context.Context, workspace int64) (bool, error) {
	n, err := sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM (SELECT 1 FROM purchases WHERE workspace_id = $1 LIMIT 1) one`, workspace)
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
