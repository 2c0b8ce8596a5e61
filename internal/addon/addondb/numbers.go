package addondb

import (
	"context"
	"math/rand/v2"

	"github.com/countersign/countersign/internal/sqldb"
)

// Number is a sum of a day. The measures active, grace and on_hold are changes of a level.
type Number struct {
	Day      string // as 2026-01-31, in UTC
	Measure  string
	Currency string // "" for a count
	// Product and Plan are what it counts, "" for money.
	Product, Plan string
	Value         int64 // hundredths of money
}

func scanNumber(r sqldb.Row) (n Number, err error) {
	err = r.Scan(&n.Day, &n.Measure, &n.Currency, &n.Value)
	return n, err
}

// numberParts is how many rows a sum has. Transactions that add to the same row wait for each
// other.
const numberParts = 8

// AddNumbers adds to sums, each of which is named once. Call it once in a transaction, with the
// sums in the order of their keys: otherwise two transactions can wait for each other.
func (d *DB) AddNumbers(ctx context.Context, sums []Number) error {
	if len(sums) == 0 {
		return nil
	}
	part := rand.IntN(numberParts)
	var values []any
	for _, n := range sums {
		values = append(values, n.Day, n.Measure, n.Currency, n.Product, n.Plan, part, n.Value)
	}
	return d.Run(ctx, `INSERT INTO numbers (day, measure, currency, product, plan, part, value) VALUES `+sqldb.Placeholders(len(sums), 7, 1)+`
		ON CONFLICT (day, measure, currency, product, plan, part) DO UPDATE SET value = numbers.value + excluded.value`, values...)
}

// Numbers lists the sums from a day up to another one, which is not among them, in the order
// of the days.
func (d *DB) Numbers(ctx context.Context, from, until string) ([]Number, error) {
	return sqldb.List(ctx, d.Queries, scanNumber, `SELECT day, measure, currency, CAST(sum(value) AS bigint) FROM numbers
		WHERE day >= $1 AND day < $2 GROUP BY day, measure, currency ORDER BY day, measure, currency`, from, until)
}

// NumbersBefore adds up all sums without a currency before a day.
func (d *DB) NumbersBefore(ctx context.Context, day string) ([]Number, error) {
	return sqldb.List(ctx, d.Queries, scanNumber, `SELECT '', measure, currency, CAST(sum(value) AS bigint) FROM numbers WHERE day < $1 AND currency = '' GROUP BY measure, currency`, day)
}

// NumbersByPlan adds up the sums of each base plan from a day up to another one, which is not among them.
func (d *DB) NumbersByPlan(ctx context.Context, from, until string) ([]Number, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (n Number, err error) {
		err = r.Scan(&n.Product, &n.Plan, &n.Measure, &n.Value)
		return n, err
	}, `SELECT product, plan, measure, CAST(sum(value) AS bigint) FROM numbers
		WHERE day >= $1 AND day < $2 AND product <> '' GROUP BY product, plan, measure ORDER BY product, plan, measure`, from, until)
}
