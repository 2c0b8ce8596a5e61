package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// importKind is the kind of the jobs that import uploaded files.
const importKind = "import"

// NewImport describes an import that runs as a job.
type NewImport struct {
	// File is the name of the file. Its end decides whether it is CSV, or else its first line.
	File string `json:"file"`
	// Workspace is the username of the one whose items and purchases are read.
	Workspace string     `json:"workspace"`
	DryRun    bool       `json:"dry_run,omitempty"`
	SkipBad   bool       `json:"skip_bad,omitempty"`
	CSV       CSVOptions `json:"csv,omitzero"`
}

// importPayload is what the row of a job holds.
type importPayload struct {
	NewImport
	Actor       people.Actor `json:"actor"`
	Upload      string       `json:"upload"` // name in the folder of uploads
	Size        int64        `json:"size"`
	WorkspaceID int64        `json:"workspace_id"`
	// From is the upload that the file is of.
	From int64 `json:"from"`
}

// ImportJob is an import that runs as a job, or has run.
type ImportJob struct {
	ID        int64                 `json:"id"`
	File      string                `json:"file"`
	DryRun    bool                  `json:"dry_run"`
	State     jobs.State            `json:"state"`
	Progress  ImportProgress        `json:"progress"`
	Report    *ImportReport         `json:"report,omitempty"` // of a job that is done
	Error     string                `json:"error,omitempty"`  // of a job that failed
	CreatedAt countersign.Timestamp `json:"created_at"`
	EndedAt   countersign.Timestamp `json:"ended_at,omitzero"`
	// UndoneAt is zero for an import that was not undone.
	UndoneAt countersign.Timestamp `json:"undone_at,omitzero"`
	// Upload is the upload that a dry run was of, for [Service.ConfirmDryRun]; 0 when it is gone.
	Upload int64 `json:"upload,omitempty"`
}

// IsWaiting reports whether the job waits to be run.
func (j ImportJob) IsWaiting() bool { return j.State == jobs.Queued }

// HasEnded reports whether the job is done, failed or cancelled.
func (j ImportJob) HasEnded() bool { return !j.EndedAt.IsZero() }

// CanBeUndone reports whether there is something that [Service.UndoJob] would take back.
func (j ImportJob) CanBeUndone() bool {
	return j.Report != nil && j.Report.ID != 0 && j.UndoneAt.IsZero()
}

// Limits of what waits in a workspace.
const (
	maxOpenJobs = 10
	maxUploads  = 10
)

// checkOpen is an error (imports_waiting) when as many imports of a workspace wait or run as may.
func checkOpen(ctx context.Context, db *storedb.DB, workspace int64) error {
	if err := db.Lock(ctx, "workspaces", "id", workspace); err != nil {
		return err
	}
	n, err := jobs.CountOpen(ctx, db.Queries, importKind, workspace)
	if err != nil {
		return err
	}
	if n >= maxOpenJobs {
		return fault.Conflict("imports_waiting", fmt.Sprintf("%d imports have not ended yet, and no more can wait. Wait until one has ended, or cancel one", n))
	}
	return nil
}

// Progress returns how far the import of a job is, or an error of kind NotFound.
func (s *Service) Progress(ctx context.Context, a people.Actor, id int64) (ImportJob, error) {
	job, _, err := s.importJob(ctx, a, id)
	return job, err
}

// importJob finds a job for an actor who may see it.
func (s *Service) importJob(ctx context.Context, a people.Actor, id int64) (ImportJob, importPayload, error) {
	missing := noJob(id)
	if err := access.Somewhere(a, access.Manage); err != nil {
		return ImportJob{}, importPayload{}, err
	}
	j, err := jobs.Find(ctx, s.db.Queries, importKind, id)
	if err != nil {
		return ImportJob{}, importPayload{}, sqldb.IfNotFound(err, missing)
	}
	job, p, err := importJobOf(j)
	if err == nil {
		err = access.In(ctx, s.db, a, p.WorkspaceID, access.Manage, missing)
	}
	if err == nil && job.CanBeUndone() {
		job.UndoneAt, err = s.undoneAt(ctx, job.Report.ID)
	}
	if err == nil && p.DryRun {
		job.Upload, err = s.waitingUpload(ctx, p.From)
	}
	if err != nil {
		return ImportJob{}, importPayload{}, err
	}
	return job, p, nil
}

func noJob(id int64) error {
	return fault.NotFound("job_not_found", fmt.Sprintf("No import with the job %d", id))
}

// waitingUpload is the id of an upload, 0 when it is gone.
func (s *Service) waitingUpload(ctx context.Context, id int64) (int64, error) {
	row, err := s.db.Upload(ctx, id)
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return row.ID, err
}

// undoneAt is when an import was undone, zero when it was not.
func (s *Service) undoneAt(ctx context.Context, id int64) (countersign.Timestamp, error) {
	undone, err := s.db.UndoneImports(ctx, id)
	return undone[id], err
}

// Jobs lists the imports into a workspace that run, or ended in the last 24 hours, newest first.
func (s *Service) Jobs(ctx context.Context, a people.Actor, workspace string) ([]ImportJob, error) {
	w, err := access.Workspace(ctx, s.db, a, workspace, access.Manage)
	if err != nil {
		return nil, err
	}
	rows, err := jobs.ListIn(ctx, s.db.Queries, importKind, w.ID)
	if err != nil {
		return nil, err
	}
	all, ids := make([]ImportJob, len(rows)), []int64(nil)
	for i, j := range rows {
		if all[i], _, err = importJobOf(j); err != nil {
			return nil, err
		}
		if all[i].CanBeUndone() {
			ids = append(ids, all[i].Report.ID)
		}
	}
	undone, err := s.db.UndoneImports(ctx, ids...)
	for i, job := range all {
		if job.Report != nil {
			all[i].UndoneAt = undone[job.Report.ID]
		}
	}
	return all, err
}

// importJobOf reads the row of a job.
func importJobOf(j jobs.Job) (ImportJob, importPayload, error) {
	var p importPayload
	job := ImportJob{ID: j.ID, State: j.State, Error: j.Error, CreatedAt: j.CreatedAt, EndedAt: j.EndedAt}
	err := json.Unmarshal(j.Payload, &p)
	job.File, job.DryRun, job.Progress.SizeBytes = p.File, p.DryRun, p.Size
	if err == nil && len(j.Progress) > 0 {
		err = json.Unmarshal(j.Progress, &job.Progress)
	}
	if err == nil && len(j.Result) > 0 {
		err = json.Unmarshal(j.Result, &job.Report)
	}
	return job, p, err
}

// Cancel ends the import of a job that has not ended: nothing of it is written. It is an error of
// kind Conflict when it has.
func (s *Service) Cancel(ctx context.Context, a people.Actor, id int64) error {
	job, p, err := s.importJob(ctx, a, id)
	if err != nil {
		return err
	}
	ended, err := s.queue.Cancel(ctx, importKind, id, func(tx sqldb.Queries) error {
		if err := access.In(ctx, storedb.In(tx), a, p.WorkspaceID, access.Manage, noJob(id)); err != nil {
			return err
		}
		return people.Record(ctx, &storedb.In(tx).DB, s.now(), a, people.Event{Action: actionCancelImport, Workspace: p.Workspace, Subject: strconv.FormatInt(id, 10), Detail: job.File})
	})
	if err == nil && ended {
		err = fault.Conflict("job_ended", "The import has already ended")
	}
	return err
}

// Result returns the report of an import that is done, and its rejected lines as CSV with the
// reasons, nil when there are none. Close them. It is an error of kind Conflict when the import is not done.
func (s *Service) Result(ctx context.Context, a people.Actor, id int64) (ImportReport, io.ReadCloser, error) {
	job, p, err := s.importJob(ctx, a, id)
	if err != nil {
		return ImportReport{}, nil, err
	}
	if job.Report == nil {
		return ImportReport{}, nil, fault.Conflict("job_not_done", "The import is not done: it is "+string(job.State))
	}
	rejected, err := os.Open(s.rejectedPath(p.Upload))
	if errors.Is(err, os.ErrNotExist) {
		return *job.Report, nil, nil
	}
	if err != nil {
		return ImportReport{}, nil, fmt.Errorf("store: import: %w", err)
	}
	return *job.Report, rejected, nil
}

// runningImport is an import that a job does.
type runningImport struct {
	run     *jobs.Run
	size    int64
	now     func() time.Time
	started time.Time
}

func (r *runningImport) progress(bytes int64, report ImportReport) ImportProgress {
	return ImportProgress{bytes, r.size, report.Lines, report.Bad, r.now().Sub(r.started).Milliseconds()}
}

func (r *runningImport) report(bytes int64, report ImportReport) {
	r.run.Report(r.progress(bytes, report))
}

// reportRead reports that the whole file was read. On SQLite, nothing is reported while it is written.
func (r *runningImport) reportRead(ctx context.Context, report ImportReport) {
	r.run.ReportNow(ctx, r.progress(r.size, report))
}

// finish ends the job in the transaction of the import.
func (r *runningImport) finish(ctx context.Context, tx *storedb.DB, report ImportReport) error {
	report.Written = true
	return r.run.Finish(ctx, tx.Queries, report)
}

// runImport does a job. What was written of the rejected lines by an earlier run is replaced.
func (s *Service) runImport(ctx context.Context, r *jobs.Run) (any, error) {
	var p importPayload
	if err := json.Unmarshal(r.Payload, &p); err != nil {
		return nil, fmt.Errorf("store: import: %w", err)
	}
	if err := s.gate.Ready(); err != nil {
		return nil, err
	}
	file, err := os.Open(s.uploadPath(p.Upload))
	if errors.Is(err, os.ErrNotExist) {
		return nil, jobs.ErrElsewhere
	}
	if err != nil {
		return nil, fmt.Errorf("store: import: %w", err)
	}
	defer file.Close()
	isCSV, err := IsCSV(file, p.File)
	if err != nil {
		return nil, err
	}
	o := ImportOptions{File: filepath.Base(p.File), Workspace: p.Workspace, DryRun: p.DryRun, SkipBad: p.SkipBad, job: &runningImport{r, p.Size, s.now, s.now()}}
	if isCSV {
		o.CSV = &p.CSV
	}
	rejects := &rejectedFile{path: s.rejectedPath(p.Upload), isCSV: isCSV, room: rejectedRoom(p.Size)}
	if err := rejects.remove(); err != nil {
		return nil, err
	}
	o.Bad = rejects.add
	report, err := s.Import(ctx, p.Actor, file, o)
	return report, errors.Join(err, rejects.close())
}
