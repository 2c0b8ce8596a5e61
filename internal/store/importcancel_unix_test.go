//go:build unix

package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
)

// whileReading runs the only job, and calls during when it has read half of its upload.
func (f *fixture) whileReading(t *testing.T, during func()) {
	t.Helper()
	path := filepath.Join(f.at.Dir, "uploads", f.uploads(t)[0])
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil {
		err = syscall.Mkfifo(path, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		pipe, err := os.OpenFile(path, os.O_WRONLY, 0) // waits for the job
		if err != nil {
			t.Error(err)
			return
		}
		defer pipe.Close()
		_, _ = pipe.Write(text[:len(text)/2])
		during()
		_, _ = pipe.Write(text[len(text)/2:]) // the job may have stopped reading
	}()
	f.runJobs(t)
	<-written
}

func TestACancelledImportWritesNothing(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		before := f.mustExport(t, false)
		queued := f.start(t, uploaded, killedSales())
		if err := f.Transfer.Cancel(t.Context(), operator, queued); err != nil {
			t.Fatal(err)
		}
		if got := f.uploads(t); len(got) != 0 {
			t.Errorf("uploads %q", got)
		}
		running := f.start(t, uploaded, killedSales())
		f.whileReading(t, func() {
			if err := f.Transfer.Cancel(t.Context(), operator, running); err != nil {
				t.Error(err)
			}
		})
		if job, err := f.Transfer.Progress(t.Context(), operator, running); err != nil || job.State != jobs.Cancelled {
			t.Errorf("%+v, %v", job, err)
		}
		if got := f.mustExport(t, false); got != before {
			t.Error(firstDifference(before, got))
		}
		if got := f.uploads(t); len(got) != 0 {
			t.Errorf("uploads %q", got)
		}
		if err := f.Transfer.Cancel(t.Context(), operator, running); !fault.HasCode(err, "job_ended") {
			t.Errorf("a second time: %v", err)
		}
		if n := strings.Count(strings.Join(f.audits(t), "\n"), "store.cancel_import"); n != 2 {
			t.Errorf("%d lines of audit", n)
		}
	})
}
