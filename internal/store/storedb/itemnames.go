package storedb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// ItemName is the id and the name of an item.
type ItemName struct {
	ID   int64
	Name string
}

// ListItemNames lists the names of a workspace's items by name, most at most.
func (d *DB) ListItemNames(ctx context.Context, workspace int64, most int) ([]ItemName, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (n ItemName, err error) {
		err = r.Scan(&n.ID, &n.Name)
		return n, err
	}, `SELECT id, name FROM items WHERE workspace_id = $1 ORDER BY lower(name), id LIMIT $2`, workspace, most)
}
