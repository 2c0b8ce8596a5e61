package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
)

// rejects copies the bad lines of an import to a file beside it. The file is
// made with the first one.
type rejects struct {
	path   string // as messages name it
	at     string // where it is
	file   *os.File
	failed error // of writing it; the import goes on
}

// newRejects removes the file that an earlier import left.
func (a *app) newRejects(imported string, csv bool) (*rejects, error) {
	format := formatLines
	if csv {
		format = formatCSV
	}
	r := &rejects{path: imported + ".rejected." + format}
	r.at = a.Path(r.path)
	if err := os.Remove(r.at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Fail(cli.ExitFailed, "rejects_stale", fmt.Sprintf("%s of an earlier import can't be removed (%v); remove it yourself", r.path, fault.FileReason(err)))
	}
	return r, nil
}

// add copies a line, unless it was too long to be kept.
func (r *rejects) add(line []byte) {
	if line == nil {
		return
	}
	if r.file == nil && r.failed == nil {
		r.file, r.failed = os.OpenFile(r.at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // lines may hold keys
	}
	if r.failed == nil {
		_, r.failed = fmt.Fprintf(r.file, "%s\n", line)
	}
}

func (r *rejects) close() {
	if r.file != nil {
		r.failed = errors.Join(r.failed, r.file.Close())
	}
}

// location returns where the bad lines are.
func (r *rejects) location() string {
	if r.failed != nil {
		return fmt.Sprintf("they are printed above, and could not be copied to %s (%v)", r.path, fault.FileReason(r.failed))
	}
	return "they are in " + r.path
}
