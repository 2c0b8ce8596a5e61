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
	"strings"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/spreadsheet"
)

// Files of the folder of uploads: NAME.upload is removed when its job has ended, and
// NAME.rejected with the job's row.
const (
	uploadsFolder  = "uploads"
	uploadSuffix   = ".upload"
	rejectedSuffix = ".rejected"
	// abandonedTime is after how long a file without a job is one that was never completed.
	abandonedTime = time.Hour
)

func (s *Service) uploadPath(name string) string {
	return filepath.Join(s.dir, uploadsFolder, name+uploadSuffix)
}

func (s *Service) rejectedPath(name string) string {
	return filepath.Join(s.dir, uploadsFolder, name+rejectedSuffix)
}

// keepUpload copies a file to the folder of uploads, which only its owner can read, and returns
// its name there and its size in bytes.
func (s *Service) keepUpload(ctx context.Context, from io.Reader) (name string, size int64, err error) {
	folder := filepath.Join(s.dir, uploadsFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", 0, uploadError(err)
	}
	file, err := os.CreateTemp(folder, "*"+uploadSuffix) // mode 0600
	if err != nil {
		return "", 0, uploadError(err)
	}
	size, err = io.Copy(file, group.Reader(ctx, from))
	if err == nil {
		err = file.Sync() // the row of the job will be on the disk, too
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(file.Name())
		if ctx.Err() != nil {
			return "", 0, ctx.Err()
		}
		if fault.Of(err) != nil {
			return "", 0, err // of the file itself, for example its size
		}
		return "", 0, uploadError(err)
	}
	return strings.TrimSuffix(filepath.Base(file.Name()), uploadSuffix), size, nil
}

func uploadError(err error) error {
	return fault.WithCause(fault.Unavailable("upload_failed", fmt.Sprintf("The file can't be copied to the data folder (%v)", fault.FileReason(err))), err)
}

// importEnded removes the upload of a job that has ended.
func (s *Service) importEnded(j jobs.Job) {
	var p importPayload
	if json.Unmarshal(j.Payload, &p) != nil {
		return
	}
	_ = os.Remove(s.uploadPath(p.Upload)) // a job that goes on reading it on Windows: SweepUploads removes it later
	if j.State != jobs.Done {
		_ = os.Remove(s.rejectedPath(p.Upload))
	}
}

// SweepUploads forgets uploads that were not confirmed within a day, and removes files that nobody
// needs, also those of jobs that are forgotten.
func (s *Service) SweepUploads(ctx context.Context) error {
	if err := s.db.PruneUploads(ctx, s.undoStart()); err != nil {
		return err
	}
	files, err := os.ReadDir(filepath.Join(s.dir, uploadsFolder))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store: uploads: %w", err)
	}
	known, err := s.knownUploads(ctx) // after the files: each file is older than its row
	if err != nil {
		return err
	}
	for _, f := range files {
		name, suffix, _ := strings.Cut(f.Name(), ".")
		ended, ok := known[name]
		info, err := f.Info()
		if err == nil && (ok && ended && "."+suffix == uploadSuffix || !ok && s.now().Sub(info.ModTime()) > abandonedTime) {
			_ = os.Remove(filepath.Join(s.dir, uploadsFolder, f.Name())) // the next time, if not now
		}
	}
	return nil
}

// knownUploads are the names of files that jobs and uploads have, and whether the job has ended.
func (s *Service) knownUploads(ctx context.Context) (map[string]bool, error) {
	waiting, err := s.db.Uploads(ctx) // before the jobs, which they become
	if err != nil {
		return nil, err
	}
	all, err := jobs.List(ctx, s.db.Queries, importKind)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, u := range waiting {
		known[u.Name] = false
	}
	for _, j := range all {
		var p importPayload
		if json.Unmarshal(j.Payload, &p) == nil {
			known[p.Upload] = !j.EndedAt.IsZero()
		}
	}
	return known, nil
}

// rejectedFile is a file of rejected lines, which is made with the first of them. Those of
// CSV have their reasons; lines of JSON become CSV.
type rejectedFile struct {
	path  string
	isCSV bool
	// room is how many bytes it may still take, see rejectedRoom.
	room int64
	file *os.File
	err  error
}

// rejectedRoom is how large the rejected lines of an upload may become, in bytes: each has a
// reason, and commas for the cells that it lacks.
func rejectedRoom(size int64) int64 { return min(3*size+1<<20, 256<<20) }

// noRoom is the reason of the last row of a file that has no room for others.
const noRoom = "more rows were rejected than fit into this file"

// remove removes what an earlier run has written.
func (r *rejectedFile) remove() error {
	if err := os.Remove(r.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return uploadError(err)
	}
	return nil
}

func (r *rejectedFile) add(number int, reason string, line []byte) {
	if !r.isCSV {
		line = rowOf(',', spreadsheet.Row([]string{strconv.Itoa(number), reason, decodedText(line)}))
	}
	if line == nil || r.err != nil || r.room <= 0 {
		return
	}
	if r.room -= int64(len(line)) + 1; r.room <= 0 {
		line = r.lastRow()
	}
	if r.file == nil {
		if r.file, r.err = os.OpenFile(r.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); r.err != nil {
			return
		}
		if !r.isCSV {
			line = append([]byte("line,reason,text\n"), line...)
		}
	}
	_, r.err = r.file.Write(append(line[:len(line):len(line)], '\n'))
}

// lastRow says that there are others.
func (r *rejectedFile) lastRow() []byte {
	if r.isCSV {
		return rowOf(',', []string{noRoom})
	}
	return rowOf(',', []string{"", noRoom, ""})
}

func (r *rejectedFile) close() error {
	if r.file != nil {
		r.err = errors.Join(r.err, r.file.Close())
	}
	if r.err != nil {
		return uploadError(r.err)
	}
	return nil
}
