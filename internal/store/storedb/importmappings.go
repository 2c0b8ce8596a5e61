package storedb

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// ImportMapping finds how the last import of a header into a workspace has read its columns: their
// fields by their folded names, "" for one that was ignored.
func (d *DB) ImportMapping(ctx context.Context, workspace int64, header string) (map[string]string, error) {
	return sqldb.One(ctx, d.Queries, func(r sqldb.Row) (fields map[string]string, err error) {
		err = r.Scan(sqldb.JSONInto(&fields))
		return fields, err
	}, `SELECT mapping FROM import_mappings WHERE workspace_id = $1 AND header = $2`, workspace, header)
}

// maxMappings is how many headers a workspace has mappings of.
const maxMappings = 100

// SetImportMapping keeps how the columns of a header were read. Of a workspace with many headers,
// the ones that were used last are kept.
func (d *DB) SetImportMapping(ctx context.Context, workspace int64, header string, fields map[string]string, now countersign.Timestamp) error {
	err := d.Run(ctx, `INSERT INTO import_mappings (workspace_id, header, mapping, used_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace_id, header) DO UPDATE SET mapping = excluded.mapping, used_at = excluded.used_at`,
		workspace, header, sqldb.JSON[map[string]string]{V: fields}, column(&now))
	if err != nil {
		return err
	}
	old := `SELECT header FROM import_mappings WHERE workspace_id = $1 AND header <> $2 AND header NOT IN (
		SELECT header FROM import_mappings WHERE workspace_id = $1 AND header <> $2 ORDER BY used_at DESC, header LIMIT $3)`
	if d.DB.DB().Engine() == sqldb.Postgres {
		old += ` FOR UPDATE SKIP LOCKED` // another import may use it, and remove others
	}
	return d.Run(ctx, `DELETE FROM import_mappings WHERE workspace_id = $1 AND header IN (`+old+`)`, workspace, header, maxMappings-1)
}
