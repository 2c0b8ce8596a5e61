package storedb

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// MediumKind is what an uploaded file is.
type MediumKind string

// The kinds of uploaded files. A File is private: it is what buyers download.
const (
	MediumPicture MediumKind = "picture"
	MediumAudio   MediumKind = "audio"
	MediumVideo   MediumKind = "video"
	MediumFile    MediumKind = "file"
)

// Medium is an uploaded file.
type Medium struct {
	// Name is random, and never that of the client. It is the last part of its address.
	Name        string
	WorkspaceID int64
	Kind        MediumKind
	// Type is the media type with which it is served.
	Type string
	// Size is in bytes, and Digest its SHA-256 in hex. Of a file that is not complete, Size is what its client announced,
	// and Digest is empty.
	Size   int64
	Digest string
	// Width and Height are in pixels, 0 for what is not a picture.
	Width, Height int64
	// Title is what a file is called for those who download it.
	Title string
	// ItemID is the item whose file it is, 0 for none.
	ItemID    int64
	CreatedAt sqldb.Time
}

const mediumColumns = `name, workspace_id, kind, type, size, digest, width, height, title, coalesce(item_id, 0), created_at`

func scanMedium(r sqldb.Row) (m Medium, err error) {
	err = r.Scan(&m.Name, &m.WorkspaceID, &m.Kind, &m.Type, &m.Size, &m.Digest, &m.Width, &m.Height, &m.Title, &m.ItemID, &m.CreatedAt)
	return m, err
}

// Medium reads one by its name.
func (d *DB) Medium(ctx context.Context, name string) (Medium, error) {
	return sqldb.One(ctx, d.Queries, scanMedium, `SELECT `+mediumColumns+` FROM media WHERE name = $1`, name)
}

// ItemFile reads the file of an item.
func (d *DB) ItemFile(ctx context.Context, item int64) (Medium, error) {
	return sqldb.One(ctx, d.Queries, scanMedium, `SELECT `+mediumColumns+` FROM media WHERE item_id = $1`, item)
}

// AddMedium writes a new one that nothing refers to yet. Its file follows, and then [DB.UseMedium].
func (d *DB) AddMedium(ctx context.Context, m Medium) error {
	return d.Run(ctx, `INSERT INTO media (name, workspace_id, kind, type, size, digest, width, height, title, created_at, unused_since)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)`,
		m.Name, m.WorkspaceID, string(m.Kind), m.Type, m.Size, m.Digest, m.Width, m.Height, m.Title, m.CreatedAt)
}

// UseMedium writes the size, the digest and the item of a new medium whose file is complete. One that was
// swept meanwhile is [sqldb.ErrNotFound].
func (d *DB) UseMedium(ctx context.Context, m Medium) error {
	changed, err := d.Exec(ctx, `UPDATE media SET size = $1, digest = $2, item_id = nullif(CAST($3 AS bigint), 0), unused_since = NULL
		WHERE name = $4 AND unused_since = created_at`, m.Size, m.Digest, m.ItemID, m.Name)
	if err == nil && changed == 0 {
		err = sqldb.ErrNotFound
	}
	return err
}

// ReleaseItemFile leaves an item without a file.
func (d *DB) ReleaseItemFile(ctx context.Context, item int64) error {
	return d.Run(ctx, `UPDATE media SET item_id = NULL WHERE item_id = $1`, item)
}

// EachMedium calls fn with every medium, and since when nothing refers to it, as far as that was noted.
func (d *DB) EachMedium(ctx context.Context, fn func(m Medium, unusedSince countersign.Timestamp) error) error {
	type row struct {
		Medium
		unused countersign.Timestamp
	}
	return sqldb.Each(ctx, d.Queries, func(r sqldb.Row) (one row, err error) {
		m := &one.Medium
		err = r.Scan(&m.Name, &m.Kind, &m.Size, &m.Digest, &m.ItemID, column(&one.unused))
		return one, err
	}, func(one row) error { return fn(one.Medium, one.unused) }, `SELECT name, kind, size, digest, coalesce(item_id, 0), unused_since FROM media`)
}

// MediaInUse calls fn with the name, the kind, the size and the digest of every medium in a snapshot whose file is complete and
// for which it was not noted that nothing refers to it.
func MediaInUse(ctx context.Context, c *sqldb.Content, fn func(Medium) error) error {
	for _, t := range c.Tables {
		if t.Name != "media" {
			continue
		}
		at := func(row []any, column string) any { return row[slices.Index(t.Columns, column)] }
		return c.Rows(ctx, t, func(row []any) error {
			digest, _ := at(row, "digest").(string)
			name, _ := at(row, "name").(string)
			kind, _ := at(row, "kind").(string)
			size, _ := at(row, "size").(int64)
			if digest == "" || at(row, "unused_since") != nil {
				return nil
			}
			return fn(Medium{Name: name, Kind: MediumKind(kind), Size: size, Digest: digest})
		})
	}
	return nil
}

// EachMediumUse calls fn with every text that may have addresses of media.
func (d *DB) EachMediumUse(ctx context.Context, fn func(text string) error) error {
	return sqldb.Each(ctx, d.Queries, sqldb.Value[string], fn, `SELECT media FROM items WHERE media LIKE '%/media/%'
		UNION ALL SELECT avatar FROM workspaces WHERE avatar <> '' UNION ALL SELECT cover FROM workspaces WHERE cover <> ''`)
}

// SetMediumUnused notes since when nothing refers to a medium, zero for one that is used. It reports false, and
// changes nothing, when another time was noted than before.
func (d *DB) SetMediumUnused(ctx context.Context, name string, before, since countersign.Timestamp) (bool, error) {
	changed, err := d.Exec(ctx, `UPDATE media SET unused_since = $1 WHERE name = $2 AND unused_since IS NOT DISTINCT FROM $3`, column(&since), name, column(&before))
	return changed > 0, err
}

// UploadedBytes adds up the sizes of all files of a workspace, also of those that nothing refers to any more.
func (d *DB) UploadedBytes(ctx context.Context, workspace int64) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], uploadedBytes, workspace)
}

// UploadedMost names the workspaces whose files take more than a number of bytes together, limit at most.
func (d *DB) UploadedMost(ctx context.Context, bytes int64, limit int) ([]string, error) {
	return sqldb.List(ctx, d.Queries, sqldb.Value[string], `SELECT w.username FROM workspaces w
		JOIN (SELECT workspace_id, sum(size) used FROM media GROUP BY workspace_id) m ON m.workspace_id = w.id
		WHERE m.used > $1 ORDER BY m.used DESC, w.username LIMIT $2`, bytes, limit)
}

const uploadedBytes = `SELECT CAST(coalesce(sum(size), 0) AS bigint) FROM media WHERE workspace_id = $1`

// DeleteMedium removes one.
func (d *DB) DeleteMedium(ctx context.Context, name string) error {
	return d.Run(ctx, `DELETE FROM media WHERE name = $1`, name)
}
