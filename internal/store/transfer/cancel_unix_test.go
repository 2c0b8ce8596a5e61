//go:build unix

package transfer_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/storetest"
)

// whileReading runs the only job, and calls during when it has read half of its upload.
func whileReading(t *testing.T, f *storetest.Fixture, during func()) {
	t.Helper()
	path := filepath.Join(f.At.Dir, "uploads", uploads(t, f)[0])
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil {
		err = syscall.Mkfifo(path, 0o600)
	}
	must.Do(t, err)
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
	storetest.RunJobs(t, f.Transfer.Queue())
	<-written
}

func TestACancelledImportWritesNothing(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		before := f.MustExport(t, false)
		queued := f.StartImport(t, storetest.Uploaded, storetest.KilledSales())
		must.Do(t, f.Transfer.Cancel(t.Context(), storetest.Operator, queued))
		if got := uploads(t, f); len(got) != 0 {
			t.Errorf("uploads %q", got)
		}
		running := f.StartImport(t, storetest.Uploaded, storetest.KilledSales())
		whileReading(t, f, func() {
			expect.NoError(t, f.Transfer.Cancel(t.Context(), storetest.Operator, running))
		})
		if job, err := f.Transfer.Progress(t.Context(), storetest.Operator, running); err != nil || job.State != jobs.Cancelled {
			t.Errorf("%+v, %v", job, err)
		}
		if got := f.MustExport(t, false); got != before {
			t.Error(storetest.FirstDifference(before, got))
		}
		if got := uploads(t, f); len(got) != 0 {
			t.Errorf("uploads %q", got)
		}
		if err := f.Transfer.Cancel(t.Context(), storetest.Operator, running); !fault.HasCode(err, "job_ended") {
			t.Errorf("a second time: %v", err)
		}
		expect.Equalf(t, strings.Count(strings.Join(f.Audits(t), "\n"), "store.cancel_import"), 2, "lines of audit")
	})
}
