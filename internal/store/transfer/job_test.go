package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// rejectedSales is what comes back of storetest.KilledSales.
const rejectedSales = "code,item_id,license,currency,date,reason\n" +
	"killed-400-of-many-sales,3,Regular,USD,2024-04-27,the workspace ada has no item 3\n" +
	"TAKEN,1,Regular,USD,2024-04-27,this purchase code already exists; codes are unique in the store and do not depend on upper and lower case\n"

// uploads lists the files in the folder of uploads.
func uploads(t testing.TB, f *storetest.Fixture) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(f.At.Dir, "uploads"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, file := range files {
		names = append(names, file.Name())
	}
	return names
}

// wantImported wants the job of storetest.KilledSales to be done.
func wantImported(t testing.TB, f *storetest.Fixture, id int64) {
	t.Helper()
	report, rejected, err := f.Transfer.Result(t.Context(), storetest.Operator, id)
	if err != nil || !report.Written || report.Purchases.New != storetest.KilledRows-2 || report.Bad != 2 || report.Lines != storetest.KilledRows || report.ID == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	defer rejected.Close()
	if text, err := io.ReadAll(rejected); err != nil || string(text) != rejectedSales {
		t.Errorf("rejected %q, %v", text, err)
	}
}

func TestAnImportRunsAsAJob(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("bob", 3, "taken")))
		id := f.StartImport(t, storetest.Uploaded, storetest.KilledSales())
		job, err := f.Transfer.Progress(t.Context(), storetest.Operator, id)
		if err != nil || job.State != jobs.Queued || job.File != "sales.csv" || job.Progress.SizeBytes != int64(len(storetest.KilledSales())) || job.Report != nil {
			t.Errorf("%+v, %v", job, err)
		}
		if _, _, err := f.Transfer.Result(t.Context(), storetest.Operator, id); !fault.HasCode(err, "job_not_done") {
			t.Errorf("a result before the end: %v", err)
		}
		info, err := os.Stat(filepath.Join(f.At.Dir, "uploads", uploads(t, f)[0]))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		storetest.RunJobs(t, f.Transfer.Queue())
		wantImported(t, f, id)
		expect.Equalf(t, f.NewestAudit(t).After, fmt.Sprintf("created %d, updated 0, rejected 2", storetest.KilledRows-2), "audit")
		if job, err = f.Transfer.Progress(t.Context(), storetest.Operator, id); err != nil || job.State != jobs.Done || job.EndedAt.IsZero() {
			t.Errorf("%+v, %v", job, err)
		}
		if size := int64(len(storetest.KilledSales())); job.Progress != (transfer.ImportProgress{ReadBytes: size, SizeBytes: size, Lines: storetest.KilledRows, Bad: 1}) {
			t.Errorf("what was reported before the file was written: %+v", job.Progress)
		}
		if got := uploads(t, f); len(got) != 1 || !strings.HasSuffix(got[0], ".rejected") {
			t.Errorf("uploads %q", got)
		}
		undone, err := f.Transfer.Undo(t.Context(), storetest.Operator, job.Report.ID, false)
		if err != nil || !undone.Written || f.Rows(t, "purchases") != 1 {
			t.Errorf("%+v, %v", undone, err)
		}
		f.Clock.Set(storetest.Noon.Add(24 * time.Hour))
		must.Do(t, f.Transfer.Queue().Prune(t.Context()))
		if _, err := f.Transfer.Progress(t.Context(), storetest.Operator, id); !fault.HasCode(err, "job_not_found") {
			t.Errorf("after a day: %v", err)
		}
	})
}

func TestAKilledImportJobIsDoneByTheNextProcess(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.EnginesOf(t.Name()) {
		t.Run(engine, func(t *testing.T) {
			outcomes := map[string]int{}
			for step := range dbtest.Steps(engine) {
				f := storetest.Prepared(t, storetest.TwoShopsStore.New(t, engine))
				f.MustImport(t, storetest.Lines(storetest.PurchaseText("bob", 3, "taken")))
				done := storetest.Killed(t, f.At, "job", step, 40)
				g := storetest.WantWhole(t, f)
				purchases := g.Rows(t, "purchases")
				if purchases != 1 && purchases != storetest.KilledRows-1 {
					t.Fatalf("step %d: %d purchases", step, purchases)
				}
				all, err := jobs.List(t.Context(), g.DB().Queries, "import")
				if err != nil || len(all) > 1 {
					t.Fatal(all, err)
				}
				g.Clock.Set(storetest.Noon.Add(time.Hour))
				storetest.RunJobs(t, g.Transfer.Queue())
				if len(all) == 0 { // killed before it was written
					outcomes["none"]++
					expect.Equalf(t, g.Rows(t, "purchases"), 1, "step %d: purchases without a job", step)
				} else {
					outcomes[string(all[0].State)]++
					wantImported(t, g, all[0].ID)
				}
				g.Clock.Set(time.Now().Add(2 * time.Hour)) // the time of files
				must.Do(t, g.Transfer.SweepUploads(t.Context()))
				if got := uploads(t, g); slices.ContainsFunc(got, isUpload) {
					t.Errorf("step %d: uploads %q are left", step, got)
				}
				if done {
					break
				}
			}
			if outcomes["none"] == 0 || outcomes["running"] < 2 || outcomes["done"] == 0 {
				t.Errorf("killed at too few stages: %v", outcomes)
			}
		})
	}
}

func TestAnImportThatWritesNothingIsDone(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		dry := storetest.Uploaded
		dry.DryRun = true
		bad := storetest.Uploaded
		bad.SkipBad = false
		ids := []int64{f.StartImport(t, dry, storetest.KilledSales()), f.StartImport(t, bad, storetest.KilledSales()), f.StartImport(t, storetest.UploadedAs("a.jsonl"), storetest.Lines(storetest.ItemText("ada", 7)))}
		storetest.RunJobs(t, f.Transfer.Queue())
		for i, want := range []string{"done false 1 ", "done false 1 ", "done true 0 "} {
			job, err := f.Transfer.Progress(t.Context(), storetest.Operator, ids[i])
			got := string(job.State) + " " + job.Error
			if job.Report != nil {
				got = fmt.Sprintf("%s %t %d %s", job.State, job.Report.Written, job.Report.Bad, job.Error)
			}
			if err != nil || got != want {
				t.Errorf("%d: %q, %v, want %q", i, got, err, want)
			}
		}
		if got := uploads(t, f); len(got) != 3 { // the rejected rows of two, and the upload of the dry run
			t.Errorf("uploads %q", got)
		}
	})
}

func TestAnImportOfAnotherFolderWaitsForItsProcess(t *testing.T) {
	f := storetest.Prepared(t, storetest.TwoShopsStore.New(t, dbtest.Postgres))
	id := f.StartImport(t, storetest.Uploaded, storetest.KilledSales())
	aside := filepath.Join(f.At.Dir, "aside")
	must.Do(t, os.Rename(filepath.Join(f.At.Dir, "uploads"), aside))
	storetest.RunJobs(t, f.Transfer.Queue())
	if job, err := f.Transfer.Progress(t.Context(), storetest.Operator, id); err != nil || job.State != jobs.Queued {
		t.Errorf("%+v, %v", job, err)
	}
	must.Do(t, os.Rename(aside, filepath.Join(f.At.Dir, "uploads")))
	g := f.Again(t)
	storetest.RunJobs(t, g.Transfer.Queue())
	if job, err := g.Transfer.Progress(t.Context(), storetest.Operator, id); err != nil || job.State != jobs.Done {
		t.Errorf("%+v, %v", job, err)
	}
}

func TestAnUploadThatBreaksOffLeavesNothing(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := f.Transfer.Upload(ctx, storetest.Operator, storetest.Uploaded, storetest.NewMeddler(strings.NewReader(storetest.KilledSales()), cancel))
		if !errors.Is(err, context.Canceled) || len(uploads(t, f)) != 0 {
			t.Errorf("%v, uploads %q", err, uploads(t, f))
		}
		for name, call := range map[string]func(people.Actor) error{
			"Upload": func(a people.Actor) error {
				_, err := f.Transfer.Upload(t.Context(), a, storetest.Uploaded, nil)
				return err
			},
			"Progress": func(a people.Actor) error { _, err := f.Transfer.Progress(t.Context(), a, 1); return err },
			"Cancel":   func(a people.Actor) error { return f.Transfer.Cancel(t.Context(), a, 1) },
			"Result":   func(a people.Actor) error { _, _, err := f.Transfer.Result(t.Context(), a, 1); return err },
		} {
			if err := call(people.Actor{}); !fault.HasCode(err, "key_scope") {
				t.Errorf("%s by nobody: %v", name, err)
			}
		}
	})
}
