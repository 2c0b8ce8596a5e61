package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// AddRequests adds to the count of the requests that apps made of an address
// within an hour, which is named by its beginning.
func (d *DB) AddRequests(ctx context.Context, hour sqldb.Time, address string, count int64) error {
	return d.Run(ctx, `INSERT INTO requests (hour, address, count) VALUES ($1, $2, $3)
		ON CONFLICT (hour, address) DO UPDATE SET count = requests.count + excluded.count`, hour, address, count)
}

// Requests counts those of an address since the beginning of an hour.
func (d *DB) Requests(ctx context.Context, since sqldb.Time, address string) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64],
		`SELECT CAST(coalesce(sum(count), 0) AS bigint) FROM requests WHERE hour >= $1 AND address = $2`, since, address)
}

// PruneRequests forgets the hours before one.
func (d *DB) PruneRequests(ctx context.Context, before sqldb.Time) error {
	return d.Run(ctx, `DELETE FROM requests WHERE hour < $1`, before)
}
