package storedb

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// Kind is the kind of an item. It is kept in the store, not printed by the API,
// and drives the rules of spec 2.3 about media.
type Kind string

// The kinds of item.
const (
	KindAudio Kind = "audio"
	KindVideo Kind = "video"
	KindOther Kind = "other"
)

// Item is an item with all its media, also those that its kind does not print.
type Item struct {
	countersign.Item
	WorkspaceID int64
	Kind        Kind
	// Support reports that purchases of this item may carry support.
	Support bool
	// Licensing describes what purchases of this item may be licensed for.
	Licensing Licensing
	// Body is the item as the API prints it.
	Body []byte
	// Notes say what changed in a new version, for those who write one. No query fills them in.
	Notes string
}

const itemColumns = `id, workspace_id, kind, support, name, description, category, sub_category, options, version,
	demo_link, tags, media, regular, extended, currency, published_at, body, licensing`

func scanItem(r sqldb.Row) (i Item, err error) {
	err = r.Scan(&i.ID, &i.WorkspaceID, &i.Kind, &i.Support, &i.Name, &i.Description, &i.Category, &i.SubCategory,
		sqldb.JSONInto(&i.Options), &i.Version, &i.DemoLink, sqldb.JSONInto(&i.Tags), sqldb.JSONInto(&i.Media),
		(*int64)(&i.Price.Regular), (*int64)(&i.Price.Extended), &i.Currency, column(&i.PublishedAt), &i.Body, sqldb.JSONInto(&i.Licensing))
	return i, err
}

// Items lists a workspace's items by id.
func (d *DB) Items(ctx context.Context, workspace int64) ([]Item, error) {
	return sqldb.List(ctx, d.Queries, scanItem,
		`SELECT `+itemColumns+` FROM items WHERE workspace_id = $1 ORDER BY id`, workspace)
}

// EachItem calls fn with every item of the store, by id.
func (d *DB) EachItem(ctx context.Context, fn func(Item) error) error {
	return sqldb.Each(ctx, d.Queries, scanItem, fn, `SELECT `+itemColumns+` FROM items ORDER BY id`)
}

// ItemBodies lists a workspace's items by id, as the API prints them.
func (d *DB) ItemBodies(ctx context.Context, workspace int64) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string],
		`SELECT body FROM items WHERE workspace_id = $1 ORDER BY id`, workspace)
}

// ItemsWithoutPicture returns how many items of the store lack a thumbnail or a preview
// image, and the first few of them by id. A body names its members with plain quotes, which
// text within a string never has.
func (d *DB) ItemsWithoutPicture(ctx context.Context, few int) (count int64, first []PlacedItem, err error) {
	if count, err = sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*)`+withoutPicture); err != nil || count == 0 {
		return 0, nil, err
	}
	first, err = sqldb.List(ctx, d.Queries, func(r sqldb.Row) (i PlacedItem, err error) {
		err = r.Scan(&i.ID, &i.Name, &i.Workspace)
		return i, err
	}, `SELECT id, name, (SELECT username FROM workspaces w WHERE w.id = items.workspace_id)`+withoutPicture+` ORDER BY id LIMIT $1`, few)
	return count, first, err
}

// withoutPicture is the condition of the index items_without_picture, or items would be read to their end.
const withoutPicture = ` FROM items WHERE body LIKE '%"media":{"thumbnail":""%' OR body LIKE '%"preview_image":""%'`

// PlacedItem is an item and the username of its workspace.
type PlacedItem struct {
	ID              int64
	Name, Workspace string
}

// String is the name of the item and its workspace.
func (i PlacedItem) String() string { return i.Name + " (" + i.Workspace + ")" }

// ItemBody is one item of a workspace as the API prints it, and whether its
// purchases may carry support.
func (d *DB) ItemBody(ctx context.Context, workspace, id int64) (body string, support bool, err error) {
	_, err = sqldb.One(ctx, d.Queries, func(r sqldb.Row) (struct{}, error) {
		return struct{}{}, r.Scan(&body, &support)
	}, `SELECT body, support FROM items WHERE workspace_id = $1 AND id = $2`, workspace, id)
	return body, support, err
}

// Item reads one item of the store.
func (d *DB) Item(ctx context.Context, id int64) (Item, error) {
	return sqldb.One(ctx, d.Queries, scanItem, `SELECT `+itemColumns+` FROM items WHERE id = $1`, id)
}

// ItemWorkspace returns the workspace of an item.
func (d *DB) ItemWorkspace(ctx context.Context, id int64) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT workspace_id FROM items WHERE id = $1`, id)
}

// LockItem reads one item of the store and makes others who would change it wait
// until the transaction ends.
func (d *DB) LockItem(ctx context.Context, id int64) (Item, error) {
	return sqldb.Locked(ctx, d.Queries, "items", "id", id, d.Item)
}

// KeepItem reads one item of the store and keeps others from removing it until the transaction
// ends. They can still change it.
func (d *DB) KeepItem(ctx context.Context, id int64) (Item, error) {
	query := `SELECT ` + itemColumns + ` FROM items WHERE id = $1`
	if d.DB.DB().Engine() == sqldb.Postgres {
		query += ` FOR KEY SHARE`
	}
	return sqldb.One(ctx, d.Queries, scanItem, query, id)
}

// AddItem writes a new one; [sqldb.ErrExists] when its id is taken.
func (d *DB) AddItem(ctx context.Context, i Item) error {
	return d.Change(ctx, TopicItems, `INSERT INTO items (`+itemColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`, itemArgs(i)...)
}

// UpdateItem writes the properties of an item, found by its id.
func (d *DB) UpdateItem(ctx context.Context, i Item) error {
	return d.Change(ctx, TopicItems, `UPDATE items SET kind = $3, support = $4, name = $5, description = $6, category = $7,
		sub_category = $8, options = $9, version = $10, demo_link = $11, tags = $12, media = $13, regular = $14, extended = $15,
		currency = $16, published_at = $17, body = $18, licensing = $19 WHERE id = $1 AND workspace_id = $2`, itemArgs(i)...)
}

// itemArgs are the values of itemColumns.
func itemArgs(i Item) []any {
	return append([]any{i.ID, i.WorkspaceID}, append(itemText(i), sqldb.JSON[Licensing]{V: i.Licensing})...)
}

// itemText are the values of the columns from kind to body.
func itemText(i Item) []any {
	return []any{
		string(i.Kind), i.Support, i.Name, i.Description, i.Category, i.SubCategory,
		sqldb.JSON[countersign.List]{V: i.Options}, string(i.Version), i.DemoLink, sqldb.JSON[countersign.List]{V: i.Tags},
		sqldb.JSON[countersign.ItemMedia]{V: i.Media}, int64(i.Price.Regular), int64(i.Price.Extended), i.Currency,
		column(&i.PublishedAt), string(i.Body),
	}
}

// SetLicensing changes what an item's purchases may be licensed for.
func (d *DB) SetLicensing(ctx context.Context, item int64, l Licensing) error {
	return d.Run(ctx, `UPDATE items SET licensing = $1 WHERE id = $2`, sqldb.JSON[Licensing]{V: l}, item)
}
