package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Number is a sum of a day. The measures active, grace and on_hold are changes of a level.
type Number struct {
	Day      string // as 2026-01-31, in UTC
	Measure  string
	Currency string // "" for a count
	Value    int64  // hundredths of money
}

func scanNumber(r sqldb.Row) (n Number, err error) {
	err = r.Scan(&n.Day, &n.Measure, &n.Currency, &n.Value)
	return n, err
}

// AddNumber adds to a sum. Callers add in the order of the keys, or they may wait for each other.
func (d *DB) AddNumber(ctx context.Context, n Number) error {
	return d.Run(ctx, `INSERT INTO numbers (day, measure, currency, value) VALUES ($1, $2, $3, $4)
		ON CONFLICT (day, measure, currency) DO UPDATE SET value = numbers.value + excluded.value`, n.Day, n.Measure, n.Currency, n.Value)
}

// Numbers lists the sums from a day up to another one, which is not among them, in the order
// of the days.
func (d *DB) Numbers(ctx context.Context, from, until string) ([]Number, error) {
	return sqldb.List(ctx, d.Queries, scanNumber, `SELECT day, measure, currency, value FROM numbers WHERE day >= $1 AND day < $2 ORDER BY day, measure, currency`, from, until)
}

// NumbersBefore adds up all sums without a currency before a day.
func (d *DB) NumbersBefore(ctx context.Context, day string) ([]Number, error) {
	return sqldb.List(ctx, d.Queries, scanNumber, `SELECT '', measure, currency, CAST(sum(value) AS bigint) FROM numbers WHERE day < $1 AND currency = '' GROUP BY measure, currency`, day)
}
