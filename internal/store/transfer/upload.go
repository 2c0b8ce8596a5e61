package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/google/uuid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Upload is a file that waits for somebody to say how it is to be imported. It is kept for a day.
type Upload struct {
	ID        int64                 `json:"id"`
	SizeBytes int64                 `json:"size_bytes"`
	CreatedAt countersign.Timestamp `json:"created_at"`
	// NewImport is how the file was tried last; before, it has only the file's name and workspace.
	NewImport
}

// Upload copies a file to the data folder, where it waits for [Service.Confirm] for a day, and
// returns its id. n has the name of the file and the workspace. A file whose columns can't be read
// is refused (csv_header).
func (s *Service) Upload(ctx context.Context, a people.Actor, n NewImport, file io.Reader) (id int64, err error) {
	workspace, err := access.Workspace(ctx, s.db, a, n.Workspace, access.Manage)
	if err != nil {
		return 0, err
	}
	name, size, err := s.keepUpload(ctx, file)
	if err != nil {
		return 0, err
	}
	if _, err = s.preview(ctx, a, s.uploadPath(name), n); err == nil {
		id, err = s.addUpload(ctx, a, workspace.ID, name, size, n)
	}
	if err != nil && !fault.HasCode(err, countersign.CodeOutcomeUnknown) {
		_ = os.Remove(s.uploadPath(name)) // [Service.SweepUploads] would do it later
	}
	return id, err
}

func (s *Service) addUpload(ctx context.Context, a people.Actor, workspace int64, name string, size int64, n NewImport) (id int64, err error) {
	options, err := json.Marshal(n)
	if err != nil {
		return 0, fmt.Errorf("store: upload: %w", err)
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if err := access.In(ctx, tx, a, workspace, access.Manage, access.NoWorkspace(n.Workspace)); err != nil {
			return err
		}
		if err := tx.Lock(ctx, "workspaces", "id", workspace); err != nil {
			return err
		}
		waiting, err := tx.CountUploads(ctx, workspace)
		if err != nil {
			return err
		}
		if waiting >= maxUploads {
			return fault.Conflict("uploads_waiting", fmt.Sprintf("%d uploaded files wait to be imported, and no more can wait. Import one of them, or discard one", waiting))
		}
		id, err = tx.AddUpload(ctx, storedb.ImportUpload{WorkspaceID: workspace, Name: name, Size: size, Options: options, CreatedAt: s.timestamp()})
		return err
	})
	return id, err
}

// upload finds an upload for an actor who may import it. To others it does not exist (upload_not_found).
func (s *Service) upload(ctx context.Context, a people.Actor, id int64) (storedb.ImportUpload, Upload, error) {
	if err := access.Somewhere(a, access.Manage); err != nil {
		return storedb.ImportUpload{}, Upload{}, err
	}
	row, err := s.db.Upload(ctx, id)
	if err == nil {
		err = access.In(ctx, s.db, a, row.WorkspaceID, access.Manage, noUpload())
	}
	if err != nil {
		return storedb.ImportUpload{}, Upload{}, sqldb.IfNotFound(err, noUpload())
	}
	u, err := uploadOf(row)
	return row, u, err
}

func noUpload() error {
	return fault.NotFound("upload_not_found", "The uploaded file was imported or discarded, or removed after a day. Upload it again")
}

func uploadOf(row storedb.ImportUpload) (Upload, error) {
	u := Upload{ID: row.ID, SizeBytes: row.Size, CreatedAt: row.CreatedAt}
	if err := json.Unmarshal(row.Options, &u.NewImport); err != nil {
		return u, fmt.Errorf("store: upload: %w", err)
	}
	return u, nil
}

// Uploads lists the files that wait in a workspace, newest first.
func (s *Service) Uploads(ctx context.Context, a people.Actor, workspace string) ([]Upload, error) {
	w, err := access.Workspace(ctx, s.db, a, workspace, access.Manage)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.UploadsOf(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	var all []Upload
	for _, row := range rows {
		u, err := uploadOf(row)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

// Confirm has an uploaded file imported by a job, whose id it returns. how says what its columns
// are; the file and the workspace stay those of the upload. A dry run leaves the upload where it
// is. The errors about columns are csv_columns.
func (s *Service) Confirm(ctx context.Context, a people.Actor, id int64, how NewImport) (job int64, err error) {
	row, u, err := s.upload(ctx, a, id)
	if err != nil {
		return 0, err
	}
	how.File, how.Workspace, how.CSV.Workspace = u.File, u.Workspace, u.Workspace
	if err := s.checkColumns(ctx, a, s.uploadPath(row.Name), how); err != nil {
		return 0, err
	}
	payload := importPayload{NewImport: how, Actor: a, Upload: row.Name, Size: row.Size, WorkspaceID: row.WorkspaceID, From: row.ID}
	if how.DryRun {
		if payload.Upload, err = s.copyUpload(ctx, row.Name); err != nil {
			return 0, err
		}
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if err := access.In(ctx, tx, a, row.WorkspaceID, access.Manage, noUpload()); err != nil {
			return err
		}
		if err := checkOpen(ctx, tx, row.WorkspaceID); err != nil {
			return err
		}
		if err := takeUpload(ctx, tx, row.ID, how); err != nil {
			return err
		}
		job, err = jobs.Add(ctx, tx.Queries, importKind, row.WorkspaceID, payload, s.now())
		return err
	})
	if err != nil {
		if how.DryRun && !fault.HasCode(err, countersign.CodeOutcomeUnknown) {
			_ = os.Remove(s.uploadPath(payload.Upload))
		}
		return 0, err
	}
	s.queue.Wake()
	return job, nil
}

// takeUpload leaves the file of an upload to a job. A dry run keeps the upload, and how it was tried.
func takeUpload(ctx context.Context, tx *storedb.DB, id int64, how NewImport) error {
	options, err := json.Marshal(how)
	if err != nil {
		return fmt.Errorf("store: upload: %w", err)
	}
	there := false
	if how.DryRun {
		there, err = tx.SetUploadOptions(ctx, id, options)
	} else {
		there, err = tx.RemoveUpload(ctx, id)
	}
	if err == nil && !there {
		err = noUpload()
	}
	return err
}

// copyUpload makes a second file for a dry run, which is removed when the dry run has ended.
func (s *Service) copyUpload(ctx context.Context, name string) (string, error) {
	other := uuid.NewString()
	err := os.Link(s.uploadPath(name), s.uploadPath(other))
	if err == nil {
		err = os.Chtimes(s.uploadPath(other), s.now(), s.now()) // SweepUploads leaves new files alone
		return other, err
	}
	file, err := os.Open(s.uploadPath(name))
	if err != nil {
		return "", missingUpload(err)
	}
	defer file.Close()
	other, _, err = s.keepUpload(ctx, file) // the file system has no links
	return other, err
}

// ConfirmDryRun imports the file of a dry run in the same way, as [Service.Confirm] does.
func (s *Service) ConfirmDryRun(ctx context.Context, a people.Actor, job int64) (int64, error) {
	_, p, err := s.importJob(ctx, a, job)
	if err != nil {
		return 0, err
	}
	if !p.DryRun {
		return 0, noUpload()
	}
	how := p.NewImport
	how.DryRun = false
	return s.Confirm(ctx, a, p.From, how)
}

// Discard removes an upload.
func (s *Service) Discard(ctx context.Context, a people.Actor, id int64) error {
	row, _, err := s.upload(ctx, a, id)
	if err != nil {
		return err
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if err := access.In(ctx, tx, a, row.WorkspaceID, access.Manage, noUpload()); err != nil {
			return err
		}
		there, err := tx.RemoveUpload(ctx, id)
		if err == nil && !there {
			err = noUpload()
		}
		return err
	})
	if err == nil {
		_ = os.Remove(s.uploadPath(row.Name)) // SweepUploads does it later, if not now
	}
	return err
}

// openUpload opens the file of an upload, and reports whether it is CSV.
func openUpload(path string, name string) (file *os.File, isCSV bool, err error) {
	if file, err = os.Open(path); err != nil {
		return nil, false, missingUpload(err)
	}
	if isCSV, err = IsCSV(file, name); err != nil {
		return nil, false, errors.Join(err, file.Close())
	}
	return file, isCSV, nil
}

// missingUpload is an error about a file that is in the data folder of another process, or gone.
func missingUpload(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return noUpload()
	}
	return fmt.Errorf("store: upload: %w", err)
}
