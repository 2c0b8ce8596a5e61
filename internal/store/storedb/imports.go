package storedb

import (
	"context"
	"math"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// Import is an import that can be undone.
type Import struct {
	ID        int64                 `json:"id"`
	CreatedAt countersign.Timestamp `json:"created_at"`
	// Actor names who has imported.
	Actor string `json:"actor"`
	// File is the file's name, "" when it has none.
	File   string       `json:"file"`
	Counts ImportCounts `json:"counts"`
	// UndoneAt is zero for an import that was not undone.
	UndoneAt countersign.Timestamp `json:"undone_at,omitzero"`
	// SampleOf is the id of the workspace whose sample data it is, 0 for another import. Sample
	// data can be taken back at any time.
	SampleOf int64 `json:"-"`
}

// ImportCounts are the numbers of rows that an import has added and changed.
type ImportCounts struct {
	Items     Moved `json:"items"`
	Purchases Moved `json:"purchases"`
}

const selectImports = `SELECT id, created_at, actor, file, counts, undone_at, sample_of FROM imports `

func scanImport(r sqldb.Row) (i Import, err error) {
	err = r.Scan(&i.ID, column(&i.CreatedAt), &i.Actor, &i.File, sqldb.JSONInto(&i.Counts), column(&i.UndoneAt), &i.SampleOf)
	return i, err
}

// AddImport writes a new import without counts and returns its id.
func (d *DB) AddImport(ctx context.Context, i Import) (id int64, err error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO imports (created_at, actor, file, counts, sample_of)
		VALUES ($1, $2, $3, $4, $5) RETURNING id`, column(&i.CreatedAt), i.Actor, i.File, sqldb.JSON[ImportCounts]{V: i.Counts}, i.SampleOf)
}

// SetImportCounts writes what an import did.
func (d *DB) SetImportCounts(ctx context.Context, id int64, counts ImportCounts) error {
	return d.Run(ctx, `UPDATE imports SET counts = $1 WHERE id = $2`, sqldb.JSON[ImportCounts]{V: counts}, id)
}

// RemoveImport removes an import that changed nothing.
func (d *DB) RemoveImport(ctx context.Context, id int64) error {
	return d.Run(ctx, `DELETE FROM imports WHERE id = $1`, id)
}

// Imports lists the imports after a time, newest first.
func (d *DB) Imports(ctx context.Context, after countersign.Timestamp) ([]Import, error) {
	return sqldb.List(ctx, d.Queries, scanImport, selectImports+`WHERE created_at > $1 ORDER BY id DESC`, column(&after))
}

// UndoneImports returns when each of some imports was undone, without those that were not.
func (d *DB) UndoneImports(ctx context.Context, ids ...int64) (map[int64]countersign.Timestamp, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := sqldb.Convert(ids, func(id int64) any { return id })
	list, err := sqldb.List(ctx, d.Queries, scanImport, selectImports+`WHERE undone_at IS NOT NULL AND id IN `+sqldb.Placeholders(1, len(ids), 1), args...)
	undone := make(map[int64]countersign.Timestamp, len(list))
	for _, i := range list {
		undone[i.ID] = i.UndoneAt
	}
	return undone, err
}

// SampleImport finds the import that is the sample data of a workspace.
func (d *DB) SampleImport(ctx context.Context, workspace int64) (Import, error) {
	return sqldb.One(ctx, d.Queries, scanImport, selectImports+`WHERE sample_of = $1`, workspace)
}

// LockImport finds an import by its id, and makes others who would undo it wait until the
// transaction ends.
func (d *DB) LockImport(ctx context.Context, id int64) (Import, error) {
	return sqldb.Locked(ctx, d.Queries, "imports", "id", id, func(ctx context.Context, id int64) (Import, error) {
		return sqldb.One(ctx, d.Queries, scanImport, selectImports+`WHERE id = $1`, id)
	})
}

// pruneRows is how many rows one transaction of a prune removes.
const pruneRows = 20_000

// PruneImports removes imports up to a time, and a portion of their rows, but no sample data.
// more reports that there are others left.
func (d *DB) PruneImports(ctx context.Context, until countersign.Timestamp) (more bool, err error) {
	if err := d.Run(ctx, `DELETE FROM imports WHERE created_at <= $1 AND sample_of = 0`, column(&until)); err != nil {
		return false, err
	}
	first, err := sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT coalesce(min(id), CAST($1 AS bigint)) FROM imports WHERE sample_of = 0`, int64(math.MaxInt64))
	if err != nil {
		return false, err
	}
	for _, table := range []string{"import_purchases", "import_items"} {
		removed, err := d.Exec(ctx, `DELETE FROM `+table+` WHERE (import_id, before, id) IN (
			SELECT import_id, before, id FROM `+table+` WHERE import_id < $1 AND import_id NOT IN (SELECT id FROM imports) ORDER BY import_id, before, id LIMIT $2)`, first, pruneRows)
		if err != nil {
			return false, err
		}
		more = more || removed == pruneRows
	}
	return more, nil
}

// columnsOf names each of a list of columns with its table.
func columnsOf(table, columns string) string {
	names := strings.Fields(strings.ReplaceAll(columns, ",", " "))
	for i, name := range names {
		names[i] = table + "." + name
	}
	return strings.Join(names, ", ")
}

// differ is the condition that rows of two tables differ in one of some columns.
func differ(a, b, columns string) string {
	names := strings.Fields(strings.ReplaceAll(columns, ",", " "))
	for i, name := range names {
		names[i] = a + "." + name + " IS DISTINCT FROM " + b + "." + name
	}
	return "(" + strings.Join(names, " OR ") + ")"
}

// assign are assignments of some columns from another table.
func assign(from, columns string) string {
	names := strings.Fields(strings.ReplaceAll(columns, ",", " "))
	for i, name := range names {
		names[i] = name + " = " + from + "." + name
	}
	return strings.Join(names, ", ")
}

// keptPurchase are the columns of a purchase that an undo compares and restores: all but
// the digest, which changes with the key file.
const keptPurchase = `code, workspace_id, item_id, license, price, currency, supported_until, downloaded, sold_at, state, state_at, buyer_name, buyer_email`

// keptItem is the same of an item.
var keptItem = strings.TrimPrefix(itemColumns, "id, ")

// KeepBefore notes, before the staged rows are moved, what an import will change and add.
// Nobody else changes these rows until the transaction ends. now, keep and lift are as for
// [DB.MovePurchases].
func (d *DB) KeepBefore(ctx context.Context, id int64, now countersign.Timestamp, keep map[string]bool, lift bool) error {
	if d.DB.DB().Engine() == sqldb.Postgres {
		for _, lock := range []string{
			`SELECT 1 FROM items WHERE id IN (SELECT id FROM stage_items) ORDER BY id FOR NO KEY UPDATE`,
			`SELECT 1 FROM purchases WHERE code_digest IN (SELECT code_digest FROM stage_purchases) ORDER BY code_digest FOR NO KEY UPDATE`,
		} {
			if err := d.Run(ctx, lock); err != nil {
				return err
			}
		}
	}
	_, differs := purchaseUpdate("p", "s", "$2", keep, lift)
	for _, q := range []struct {
		text string
		args []any
	}{
		{`INSERT INTO import_items (import_id, before, id, ` + keptItem + `) SELECT $1, true, i.id, ` + columnsOf("i", keptItem) + `
			FROM items i JOIN stage_items s ON s.id = i.id WHERE (i.body <> s.body OR i.kind <> s.kind OR i.support <> s.support
			OR i.media <> s.media OR i.licensing <> coalesce(s.licensing, i.licensing))`, []any{id}},
		{`INSERT INTO stage_new_items (id) SELECT s.id FROM stage_items s WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.id = s.id)`, nil},
		{`INSERT INTO import_purchases (import_id, before, id, ` + keptPurchase + `) SELECT $1, true, p.id, ` + columnsOf("p", keptPurchase) + `
			FROM purchases p JOIN stage_purchases s ON s.code_digest = p.code_digest WHERE CAST($2 AS text) <> '' AND (` + differs + `)`, []any{id, column(&now)}},
		{`INSERT INTO stage_new_purchases (code_digest) SELECT s.code_digest FROM stage_purchases s
			WHERE NOT EXISTS (SELECT 1 FROM purchases p WHERE p.code_digest = s.code_digest)`, nil},
	} {
		if err := d.Run(ctx, q.text, q.args...); err != nil {
			return err
		}
	}
	return nil
}

// KeepAfter notes, when the staged rows were moved, how the import left them.
func (d *DB) KeepAfter(ctx context.Context, id int64) error {
	for _, t := range []struct{ table, columns, isNew string }{
		{"items", keptItem, `id IN (SELECT id FROM stage_new_items)`},
		{"purchases", keptPurchase, `code_digest IN (SELECT code_digest FROM stage_new_purchases)`},
	} {
		columns := ` INTO import_` + t.table + ` (import_id, before, id, ` + t.columns + `) SELECT $1, false, id, ` + t.columns + ` FROM ` + t.table + ` WHERE `
		for _, which := range []string{t.isNew, `id IN (SELECT id FROM import_` + t.table + ` WHERE import_id = $1 AND before = true)`} {
			if err := d.Run(ctx, `INSERT`+columns+which+` AND CAST($1 AS bigint) > 0`, id); err != nil {
				return err
			}
		}
	}
	return nil
}
