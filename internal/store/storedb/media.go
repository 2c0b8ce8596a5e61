package storedb

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// MediaKind is what an uploaded file is.
type MediaKind string

// The kinds of uploaded files. A File is private: it is what buyers download.
const (
	MediaPicture MediaKind = "picture"
	MediaAudio   MediaKind = "audio"
	MediaVideo   MediaKind = "video"
	MediaFile    MediaKind = "file"
)

// UploadedFile is an uploaded file.
type UploadedFile struct {
	// Name is random, and never that of the client. It is the last part of its address.
	Name        string
	WorkspaceID int64
	Kind        MediaKind
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

const uploadedFileColumns = `name, workspace_id, kind, type, size, digest, width, height, title, coalesce(item_id, 0), created_at`

func scanUploadedFile(r sqldb.Row) (m UploadedFile, err error) {
	err = r.Scan(&m.Name, &m.WorkspaceID, &m.Kind, &m.Type, &m.Size, &m.Digest, &m.Width, &m.Height, &m.Title, &m.ItemID, &m.CreatedAt)
	return m, err
}

// UploadedFile reads one by its name.
func (d *DB) UploadedFile(ctx context.Context, name string) (UploadedFile, error) {
	return sqldb.One(ctx, d.Queries, scanUploadedFile, `SELECT `+uploadedFileColumns+` FROM media WHERE name = $1`, name)
}

// ItemFile reads the file of an item.
func (d *DB) ItemFile(ctx context.Context, item int64) (UploadedFile, error) {
	return sqldb.One(ctx, d.Queries, scanUploadedFile, `SELECT `+uploadedFileColumns+` FROM media WHERE item_id = $1`, item)
}

// AddUploadedFile writes a new one that nothing refers to yet. Its file follows, and then [DB.UseUploadedFile].
func (d *DB) AddUploadedFile(ctx context.Context, m UploadedFile) error {
	return d.Run(ctx, `INSERT INTO media (name, workspace_id, kind, type, size, digest, width, height, title, created_at, unused_since)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)`,
		m.Name, m.WorkspaceID, string(m.Kind), m.Type, m.Size, m.Digest, m.Width, m.Height, m.Title, m.CreatedAt)
}

// UseUploadedFile writes the size, the digest and the item of a new uploaded file whose file is complete. One that was
// swept meanwhile is [sqldb.ErrNotFound].
func (d *DB) UseUploadedFile(ctx context.Context, m UploadedFile) error {
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

// EachUploadedFile calls fn with every uploaded file, and since when nothing refers to it, as far as that was noted.
func (d *DB) EachUploadedFile(ctx context.Context, fn func(m UploadedFile, unusedSince countersign.Timestamp) error) error {
	type row struct {
		UploadedFile
		unused countersign.Timestamp
	}
	return sqldb.Each(ctx, d.Queries, func(r sqldb.Row) (one row, err error) {
		m := &one.UploadedFile
		err = r.Scan(&m.Name, &m.Kind, &m.Size, &m.Digest, &m.ItemID, column(&one.unused))
		return one, err
	}, func(one row) error { return fn(one.UploadedFile, one.unused) }, `SELECT name, kind, size, digest, coalesce(item_id, 0), unused_since FROM media`)
}

// MediaInUse calls fn with the name, the kind, the size and the digest of every uploaded file in a snapshot whose file is complete and
// for which it was not noted that nothing refers to it.
func MediaInUse(ctx context.Context, c *sqldb.Content, fn func(UploadedFile) error) error {
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
			return fn(UploadedFile{Name: name, Kind: MediaKind(kind), Size: size, Digest: digest})
		})
	}
	return nil
}

// EachMediaText calls fn with every text that may have addresses of media.
func (d *DB) EachMediaText(ctx context.Context, fn func(text string) error) error {
	return sqldb.Each(ctx, d.Queries, sqldb.Value[string], fn, `SELECT media FROM items WHERE media LIKE '%/media/%'
		UNION ALL SELECT avatar FROM workspaces WHERE avatar <> '' UNION ALL SELECT cover FROM workspaces WHERE cover <> ''`)
}

// SetUploadedFileUnused notes since when nothing refers to an uploaded file, zero for one that is used. It reports false, and
// changes nothing, when another time was noted than before.
func (d *DB) SetUploadedFileUnused(ctx context.Context, name string, before, since countersign.Timestamp) (bool, error) {
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

// DeleteUploadedFile removes one.
func (d *DB) DeleteUploadedFile(ctx context.Context, name string) error {
	return d.Run(ctx, `DELETE FROM media WHERE name = $1`, name)
}
