package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// rejects copies the bad lines of an import to a file beside it. The file is
// made with the first one.
type rejects struct {
	path   string
	file   *os.File
	out    *bufio.Writer
	failed error // of writing it; the import goes on
}

// newRejects removes the file that an earlier import left.
func newRejects(imported string) (*rejects, error) {
	r := &rejects{path: imported + ".rejected.jsonl"}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fail(exitFailed, "rejects_stale", fmt.Sprintf("%s of an earlier import can't be removed (%v); remove it yourself", r.path, reason(err)))
	}
	return r, nil
}

// add copies a line, unless it was too long to be kept.
func (r *rejects) add(line []byte) {
	if line == nil {
		return
	}
	if r.file == nil && r.failed == nil {
		r.file, r.failed = os.OpenFile(r.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // lines may hold keys
		if r.failed == nil {
			r.out = bufio.NewWriter(r.file)
		}
	}
	if r.failed != nil {
		return
	}
	_, err := r.out.Write(line)
	r.failed = errors.Join(err, r.out.WriteByte('\n'))
}

func (r *rejects) close() {
	if r.file != nil {
		r.failed = errors.Join(r.failed, r.out.Flush(), r.file.Close())
	}
}

// written tells where the bad lines are, if there were any.
func (r *rejects) written() (path string, ok bool) { return r.path, r.file != nil && r.failed == nil }

// place says where the bad lines are.
func (r *rejects) place() string {
	if r.failed != nil {
		return fmt.Sprintf("they stand above, and could not be copied to %s (%v)", r.path, reason(r.failed))
	}
	return "they stand in " + r.path
}
