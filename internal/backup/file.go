package backup

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/sqldb"
)

// partialSuffix ends the name of a backup that is being written.
const partialSuffix = ".partial"

// writeFile writes a file that only its owner may read: under another name first, so that a file
// with this one is whole and on the disk. A file that is there is not replaced.
func writeFile(path string, write func(io.Writer) error) (size int64, err error) {
	partial := path + partialSuffix
	if _, err := os.Lstat(path); err == nil {
		return 0, fault.Conflict("file_exists", "The file "+path+" exists")
	}
	if err := os.Remove(partial); err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, folderError(filepath.Dir(path), err)
	}
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, folderError(filepath.Dir(path), err)
	}
	to := &failingWriter{to: f}
	err = write(to)
	if err == nil {
		err = to.note(f.Sync())
	}
	if info, statErr := f.Stat(); statErr == nil {
		size = info.Size()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = to.note(os.Rename(partial, path))
	}
	if err != nil {
		_ = os.Remove(partial) // a disk that is full has no space for it
		if to.err != nil {
			err = folderError(filepath.Dir(path), to.err)
		}
		return 0, err
	}
	return size, sqldb.SyncFolder(filepath.Dir(path))
}

// failingWriter remembers why the file could not be written.
type failingWriter struct {
	to  io.Writer
	err error
}

// Write implements [io.Writer].
func (w *failingWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	return n, w.note(err)
}

func (w *failingWriter) note(err error) error {
	if err != nil {
		w.err = err
	}
	return err
}

// writeBucket writes a file into a bucket, where it is whole when it is there.
func writeBucket(ctx context.Context, log *slog.Logger, b *blob.Bucket, key string, write func(io.Writer) error) (size int64, err error) {
	from, to := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := group.Contain(log, "backup", func() error { return write(to) })
		_ = to.CloseWithError(err) // which has none
		written <- err
	}()
	size, err = b.Write(ctx, key, from)
	_ = from.CloseWithError(err) // which has none
	if notWritten := <-written; err == nil {
		err = notWritten
	}
	return size, err
}

// lockFolder lets one backup of a service be written into a folder at a time.
func lockFolder(dir, service string) (unlock func(), err error) {
	lock := flock.New(filepath.Join(dir, service+".lock"), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, folderError(dir, err)
	}
	if !locked {
		return nil, fault.Conflict(CodeRunning, "Another backup is being written to "+dir)
	}
	return func() { _ = lock.Close() }, nil
}

// removeLeftOver removes what backups left that were killed. The folder is locked. It may be any
// folder of the user, so other names and kinds of files stay.
func removeLeftOver(dir, service string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type().IsRegular() && isUnfinished(e.Name(), service):
			_ = os.Remove(path)
		case e.IsDir() && isNumbered(e.Name(), service+"-"+verifyFolder):
			removeVerified(path)
		}
	}
}

// isUnfinished reports whether a file is a backup, or the copy of a database, that was not finished.
func isUnfinished(name, service string) bool {
	backup, isPartial := strings.CutSuffix(name, partialSuffix)
	of, isBackup := parseFileName(backup)
	for _, beside := range []string{"-journal", "-wal", "-shm"} { // the files of SQLite beside a copy
		name = strings.TrimSuffix(name, beside)
	}
	return isPartial && isBackup && string(of.service) == service || isNumbered(name, service+".db.copy-")
}

// isNumbered reports whether a name is a prefix and a number, as those of temporary files are.
func isNumbered(name, prefix string) bool {
	number, ok := strings.CutPrefix(name, prefix)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// removeVerified removes a folder in which a backup was verified, if it holds nothing else.
func removeVerified(dir string) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if strings.HasPrefix(f.Name(), verifyFile) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
	_ = os.Remove(dir)
}
