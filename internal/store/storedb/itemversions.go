package storedb

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// ItemVersion is a version that an item has had, or has.
type ItemVersion struct {
	// Number counts the versions of the item from 1 on.
	Number int64 `json:"number"`
	// Version is "" since when the item had none.
	Version countersign.Version `json:"version"`
	// At is when the item got it, and Actor who set it. Actor is "" for the version that an item
	// had before versions were kept; At is then when the item was published.
	At    countersign.Timestamp `json:"at"`
	Actor string                `json:"actor"`
	// Notes say what changed. They may be "".
	Notes string `json:"notes"`
}

// ItemVersions lists the versions of an item, newest first.
func (d *DB) ItemVersions(ctx context.Context, item int64, limit int) ([]ItemVersion, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (v ItemVersion, err error) {
		err = r.Scan(&v.Number, &v.Version, column(&v.At), &v.Actor, &v.Notes)
		return v, err
	}, `SELECT number, version, at, actor, notes FROM item_versions WHERE item_id = $1 ORDER BY number DESC LIMIT $2`, item, limit)
}

// keepVersions notes the versions of items of the table i that are not those noted last.
const keepVersions = `INSERT INTO item_versions (item_id, number, version, at, actor, notes)
	SELECT i.id, coalesce((SELECT max(v.number) FROM item_versions v WHERE v.item_id = i.id), 0) + 1, i.version, CAST($1 AS text), CAST($2 AS text), CAST($3 AS text)
	FROM items i WHERE i.version <> coalesce((SELECT v.version FROM item_versions v WHERE v.item_id = i.id ORDER BY v.number DESC LIMIT 1), '') AND `

// KeepVersion notes the version of an item, in the transaction that has written it, unless it is
// the one noted last.
func (d *DB) KeepVersion(ctx context.Context, item int64, v ItemVersion) error {
	return d.Run(ctx, keepVersions+`i.id = $4`, column(&v.At), v.Actor, v.Notes, item)
}

// KeepStagedVersions is KeepVersion for the items of an import that were moved.
func (d *DB) KeepStagedVersions(ctx context.Context, v ItemVersion) error {
	return d.Run(ctx, keepVersions+`i.id IN (SELECT id FROM stage_items)`, column(&v.At), v.Actor, v.Notes)
}

// KeepImportedVersions is KeepVersion for the items of an import that was undone, before its rows are forgotten.
func (d *DB) KeepImportedVersions(ctx context.Context, imported int64, v ItemVersion) error {
	return d.Run(ctx, keepVersions+`i.id IN (SELECT id FROM import_items WHERE import_id = $4)`, column(&v.At), v.Actor, v.Notes, imported)
}
