package storedb

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// ImportUpload is a file that was uploaded and is not imported yet.
type ImportUpload struct {
	ID          int64
	WorkspaceID int64
	// Name is that of the file in the folder of uploads.
	Name string
	// Size is in bytes.
	Size int64
	// Options are JSON: how the file is to be imported.
	Options   []byte
	CreatedAt countersign.Timestamp
}

const selectUploads = `SELECT id, workspace_id, name, size, options, created_at FROM import_uploads `

func scanUpload(r sqldb.Row) (u ImportUpload, err error) {
	err = r.Scan(&u.ID, &u.WorkspaceID, &u.Name, &u.Size, &u.Options, column(&u.CreatedAt))
	return u, err
}

// AddUpload writes a new upload and returns its id.
func (d *DB) AddUpload(ctx context.Context, u ImportUpload) (id int64, err error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO import_uploads (workspace_id, name, size, options, created_at)
		VALUES ($1, $2, $3, $4, $5) RETURNING id`, u.WorkspaceID, u.Name, u.Size, string(u.Options), column(&u.CreatedAt))
}

// Upload finds an upload by its id.
func (d *DB) Upload(ctx context.Context, id int64) (ImportUpload, error) {
	return sqldb.One(ctx, d.Queries, scanUpload, selectUploads+`WHERE id = $1`, id)
}

// Uploads lists the uploads of all workspaces, newest first.
func (d *DB) Uploads(ctx context.Context) ([]ImportUpload, error) {
	return sqldb.List(ctx, d.Queries, scanUpload, selectUploads+`ORDER BY id DESC`)
}

// UploadsOf lists the uploads of a workspace, newest first.
func (d *DB) UploadsOf(ctx context.Context, workspace int64) ([]ImportUpload, error) {
	return sqldb.List(ctx, d.Queries, scanUpload, selectUploads+`WHERE workspace_id = $1 ORDER BY id DESC`, workspace)
}

// CountUploads returns how many uploads a workspace has.
func (d *DB) CountUploads(ctx context.Context, workspace int64) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM import_uploads WHERE workspace_id = $1`, workspace)
}

// SetUploadOptions writes how an upload is to be imported. It returns false when the upload is gone.
func (d *DB) SetUploadOptions(ctx context.Context, id int64, options []byte) (bool, error) {
	n, err := d.Exec(ctx, `UPDATE import_uploads SET options = $1 WHERE id = $2`, string(options), id)
	return n > 0, err
}

// RemoveUpload removes an upload. It returns false when it is gone already.
func (d *DB) RemoveUpload(ctx context.Context, id int64) (bool, error) {
	n, err := d.Exec(ctx, `DELETE FROM import_uploads WHERE id = $1`, id)
	return n > 0, err
}

// PruneUploads removes uploads up to a time.
func (d *DB) PruneUploads(ctx context.Context, until countersign.Timestamp) error {
	return d.Run(ctx, `DELETE FROM import_uploads WHERE created_at <= $1`, column(&until))
}
