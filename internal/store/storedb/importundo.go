package storedb

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// ImportedRow is a row that an import can't take back, and why.
type ImportedRow struct {
	// Kind is "item" or "purchase".
	Kind string `json:"kind"`
	ID   int64  `json:"id"`
	// Name is a purchase's code, or an item's name.
	Name string `json:"name"`
	// Reason is "changed", "removed", "licensed", "refunded", "item_removed" or "used".
	Reason string `json:"reason"`
}

// Why says in words why the row is left alone, as the end of a sentence.
func (r ImportedRow) Why() string {
	switch r.Reason {
	case "removed":
		return "was removed since"
	case "licensed":
		return "has a license since"
	case "refunded":
		return "has refunds of another import since"
	case "used":
		return "has purchases or keys since"
	case "item_removed":
		return "belonged to an item that was removed since"
	}
	return "was changed since"
}

func scanImportedRow(r sqldb.Row) (row ImportedRow, err error) {
	err = r.Scan(&row.Kind, &row.ID, &row.Name, &row.Reason)
	return row, err
}

// undone is one kind of row of an import.
type undone struct {
	table, columns string
	// rows selects what can't be taken back, with $1 the import and $2 its time.
	rows string
	// leave is what has the import forget these rows, each without the list of their ids.
	leave []string
}

// In what follows, a is a row as the import left it, and b as the import found it: none for
// one that it added.

// itemLost is true for a purchase whose workspace no longer has its item.
const itemLost = `b.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM items x WHERE x.id = b.item_id AND x.workspace_id = b.workspace_id)`

// refundedSince is true for a purchase that the import has added, and of which another one has noted a refund.
const refundedSince = `b.id IS NULL AND a.id IN (SELECT purchase_id FROM refunded_parts WHERE import_id <> $1)`

var undonePurchases = undone{"purchases", keptPurchase, `
	SELECT 'purchase' AS kind, a.id AS id, a.code AS name, CASE WHEN p.id IS NULL THEN 'removed'
		WHEN b.id IS NULL AND a.id IN (SELECT purchase_id FROM licenses) THEN 'licensed'
		WHEN ` + refundedSince + ` THEN 'refunded'
		WHEN ` + itemLost + ` THEN 'item_removed'
		ELSE 'changed' END AS reason
	FROM import_purchases a
		LEFT JOIN import_purchases b ON b.import_id = a.import_id AND b.before = true AND b.id = a.id
		LEFT JOIN purchases p ON p.id = a.id
	WHERE a.import_id = $1 AND a.before = false AND CAST($2 AS text) <> '' AND (p.id IS NULL OR ` + differ("p", "a", keptPurchase) + `
		OR b.id IS NULL AND a.id IN (SELECT purchase_id FROM licenses)
		OR ` + refundedSince + `
		OR b.id IS NULL AND CAST(a.id AS text) IN (SELECT subject FROM audit WHERE at >= $2 AND action LIKE 'purchase.%')
		OR ` + itemLost + `)`, []string{
	`UPDATE refunded_parts SET import_id = 0 WHERE import_id = $1 AND purchase_id`, `DELETE FROM import_purchases WHERE import_id = $1 AND id`,
}}

var undoneItems = undone{"items", keptItem, `
	SELECT 'item' AS kind, a.id AS id, a.name AS name, CASE WHEN i.id IS NULL THEN 'removed'
		WHEN ` + differ("i", "a", keptItem) + ` THEN 'changed' ELSE 'used' END AS reason
	FROM import_items a
		LEFT JOIN import_items b ON b.import_id = a.import_id AND b.before = true AND b.id = a.id
		LEFT JOIN items i ON i.id = a.id
	WHERE a.import_id = $1 AND a.before = false AND CAST($2 AS text) <> '' AND (i.id IS NULL OR ` + differ("i", "a", keptItem) + `
		OR b.id IS NULL AND (a.id IN (SELECT item_id FROM purchases) OR a.id IN (SELECT item_id FROM keys WHERE item_id IS NOT NULL)))`, []string{`DELETE FROM import_items WHERE import_id = $1 AND id`}}

// LockImports keeps other imports and undos out until the transaction ends: an undo removes what an import has checked, and
// two imports of the same sales would each find what the other has not written yet. SQLite has one writer.
func (d *DB) LockImports(ctx context.Context) error {
	if d.DB.DB().Engine() != sqldb.Postgres {
		return nil
	}
	return d.Run(ctx, `LOCK TABLE imports IN SHARE ROW EXCLUSIVE MODE`)
}

// UndoPurchases takes back what an import did with purchases: those that it added are
// removed, those that it changed are as before. What has changed since, or is used, is left
// alone and returned: the first few, and how many. Items follow with [DB.UndoItems].
func (d *DB) UndoPurchases(ctx context.Context, i Import, few int) (Undone, error) {
	for _, topic := range []string{TopicPurchases, TopicLicenses} {
		if err := d.Mark(ctx, topic, ""); err != nil {
			return Undone{}, err
		}
	}
	return d.undo(ctx, undonePurchases, i, few)
}

// UndoItems is [DB.UndoPurchases] for items.
func (d *DB) UndoItems(ctx context.Context, i Import, few int) (Undone, error) {
	if err := d.Mark(ctx, TopicItems, ""); err != nil {
		return Undone{}, err
	}
	return d.undo(ctx, undoneItems, i, few)
}

// Undone counts what an undo did with rows of one kind.
type Undone struct {
	Removed  int64
	Restored int64
	// Left counts the rows that were left alone; LeftRows are the first few.
	Left     int64
	LeftRows []ImportedRow
}

func (d *DB) undo(ctx context.Context, u undone, i Import, few int) (done Undone, err error) {
	imported := "import_" + u.table
	if d.DB.DB().Engine() == sqldb.Postgres {
		err := d.Run(ctx, `SELECT 1 FROM `+u.table+` WHERE id IN (SELECT id FROM `+imported+` WHERE import_id = $1) ORDER BY id FOR UPDATE`, i.ID)
		if err != nil {
			return done, err
		}
	}
	if err = d.leaveAlone(ctx, u, i, few, &done); err != nil {
		return done, err
	}
	done.Restored, err = d.Exec(ctx, `UPDATE `+u.table+` SET `+assign("b", u.columns)+` FROM `+imported+` b
		WHERE b.import_id = $1 AND b.before = true AND b.id = `+u.table+`.id`, i.ID)
	if err != nil {
		return done, err
	}
	added := `SELECT a.id FROM ` + imported + ` a WHERE a.import_id = $1 AND a.before = false
		AND NOT EXISTS (SELECT 1 FROM ` + imported + ` b WHERE b.import_id = $1 AND b.before = true AND b.id = a.id)`
	if err = d.keepRemovedIDs(ctx, u.table, added, i.ID); err != nil {
		return done, err
	}
	done.Removed, err = d.Exec(ctx, `DELETE FROM `+u.table+` WHERE id IN (`+added+`)`, i.ID)
	return done, err
}

// leaveAlone takes what can't be taken back out of what the import has noted, and counts it.
func (d *DB) leaveAlone(ctx context.Context, u undone, i Import, few int, done *Undone) (err error) {
	at := column(&i.CreatedAt)
	if done.Left, err = sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM (`+u.rows+`) l`, i.ID, at); err != nil || done.Left == 0 {
		return err
	}
	if done.LeftRows, err = sqldb.List(ctx, d.Queries, scanImportedRow, `SELECT kind, id, name, reason FROM (`+u.rows+`) l ORDER BY id LIMIT $3`, i.ID, at, few); err != nil {
		return err
	}
	for _, leave := range u.leave {
		if err = d.Run(ctx, leave+` IN (SELECT id FROM (`+u.rows+`) l)`, i.ID, at); err != nil {
			return err
		}
	}
	return nil
}

// EndImport notes when an import was undone, and forgets its rows.
func (d *DB) EndImport(ctx context.Context, id int64, now countersign.Timestamp) error {
	for _, table := range []string{"import_purchases", "import_items"} {
		if err := d.Run(ctx, `DELETE FROM `+table+` WHERE import_id = $1`, id); err != nil {
			return err
		}
	}
	return d.Run(ctx, `UPDATE imports SET undone_at = $1, sample_of = 0 WHERE id = $2`, column(&now), id)
}
