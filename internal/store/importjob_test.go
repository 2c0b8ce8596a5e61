package store

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
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/transfer"
)

// uploaded imports killedSales into ada, and leaves out what is bad.
var uploaded = uploadedAs("sales.csv")

// uploadedAs is uploaded for a file with another name.
func uploadedAs(file string) transfer.NewImport {
	return transfer.NewImport{File: file, Workspace: "ada", SkipBad: true}
}

// killedRows is the number of rows of killedSales: the progress of an import is written within them.
const killedRows = 1200

// killedSales is a file of sales, of which two are bad, the second only when all are known.
func killedSales() string {
	var file strings.Builder
	file.WriteString("code,item_id,license,currency,date\n")
	for i := range killedRows {
		code, item := fmt.Sprintf("killed-%d-of-many-sales", i), 1
		switch i {
		case 400:
			item = 3
		case 1100:
			code = "TAKEN"
		}
		fmt.Fprintf(&file, "%s,%d,Regular,USD,2024-04-27\n", code, item)
	}
	return file.String()
}

// rejectedSales is what comes back of killedSales.
const rejectedSales = "code,item_id,license,currency,date,reason\n" +
	"killed-400-of-many-sales,3,Regular,USD,2024-04-27,the workspace ada has no item 3\n" +
	"TAKEN,1,Regular,USD,2024-04-27,this purchase code already exists; codes are unique in the store and do not depend on upper and lower case\n"

// uploads lists the files in the folder of uploads.
func (f *fixture) uploads(t testing.TB) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(f.at.Dir, "uploads"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, file := range files {
		names = append(names, file.Name())
	}
	return names
}

// runJobs runs all jobs that can be run now.
func (f *fixture) runJobs(t testing.TB) {
	t.Helper()
	for ran := true; ran; {
		var err error
		if ran, err = f.jobs.RunNext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// begin uploads a file and has it imported as a job, whose id it returns.
func (s *Store) begin(ctx context.Context, a people.Actor, n transfer.NewImport, file string) (int64, error) {
	id, err := s.Transfer.Upload(ctx, a, n, strings.NewReader(file))
	if err != nil {
		return 0, err
	}
	return s.Transfer.Confirm(ctx, a, id, n)
}

// start is begin by the operator.
func (f *fixture) start(t testing.TB, n transfer.NewImport, file string) int64 {
	t.Helper()
	id, err := f.begin(t.Context(), operator, n, file)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// wantImported wants the job of killedSales to be done.
func (f *fixture) wantImported(t testing.TB, id int64) {
	t.Helper()
	report, rejected, err := f.Transfer.Result(t.Context(), operator, id)
	if err != nil || !report.Written || report.Purchases.New != killedRows-2 || report.Bad != 2 || report.Lines != killedRows || report.ID == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	defer rejected.Close()
	if text, err := io.ReadAll(rejected); err != nil || string(text) != rejectedSales {
		t.Errorf("rejected %q, %v", text, err)
	}
}

func TestAnImportRunsAsAJob(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(purchaseText("bob", 3, "taken")))
		id := f.start(t, uploaded, killedSales())
		job, err := f.Transfer.Progress(t.Context(), operator, id)
		if err != nil || job.State != jobs.Queued || job.File != "sales.csv" || job.Progress.SizeBytes != int64(len(killedSales())) || job.Report != nil {
			t.Errorf("%+v, %v", job, err)
		}
		if _, _, err := f.Transfer.Result(t.Context(), operator, id); !fault.HasCode(err, "job_not_done") {
			t.Errorf("a result before the end: %v", err)
		}
		info, err := os.Stat(filepath.Join(f.at.Dir, "uploads", f.uploads(t)[0]))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		f.runJobs(t)
		f.wantImported(t, id)
		if got := f.newestAudit(t).After; got != fmt.Sprintf("created %d, updated 0, rejected 2", killedRows-2) {
			t.Errorf("audit %q", got)
		}
		if job, err = f.Transfer.Progress(t.Context(), operator, id); err != nil || job.State != jobs.Done || job.EndedAt.IsZero() {
			t.Errorf("%+v, %v", job, err)
		}
		if size := int64(len(killedSales())); job.Progress != (transfer.ImportProgress{ReadBytes: size, SizeBytes: size, Lines: killedRows, Bad: 1}) {
			t.Errorf("what was reported before the file was written: %+v", job.Progress)
		}
		if got := f.uploads(t); len(got) != 1 || !strings.HasSuffix(got[0], ".rejected") {
			t.Errorf("uploads %q", got)
		}
		undone, err := f.Transfer.Undo(t.Context(), operator, job.Report.ID, false)
		if err != nil || !undone.Written || f.rows(t, "purchases") != 1 {
			t.Errorf("%+v, %v", undone, err)
		}
		f.clock.set(noon.Add(24 * time.Hour))
		if err := f.Transfer.SweepUploads(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Transfer.Progress(t.Context(), operator, id); !fault.HasCode(err, "job_not_found") {
			t.Errorf("after a day: %v", err)
		}
	})
}

func TestAKilledImportJobIsDoneByTheNextProcess(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			outcomes := map[string]int{}
			for step := range dbtest.Steps(engine) {
				if step > 40 {
					t.Fatal("the job takes more steps than expected")
				}
				f := prepared(t, twoShopsStore.New(t, engine))
				f.mustImport(t, lines(purchaseText("bob", 3, "taken")))
				said := killed(t, f.at, "job", step, waiting)
				if len(said) != 1 {
					t.Fatalf("step %d: said %q", step, said)
				}
				g := wantWhole(t, f)
				purchases := g.rows(t, "purchases")
				if purchases != 1 && purchases != killedRows-1 {
					t.Fatalf("step %d: %d purchases", step, purchases)
				}
				all, err := jobs.List(t.Context(), g.db.Queries, "import")
				if err != nil || len(all) > 1 {
					t.Fatal(all, err)
				}
				g.clock.set(noon.Add(time.Hour))
				g.runJobs(t)
				if len(all) == 0 { // killed before it was written
					outcomes["none"]++
					if got := g.rows(t, "purchases"); got != 1 {
						t.Errorf("step %d: %d purchases without a job", step, got)
					}
				} else {
					outcomes[string(all[0].State)]++
					g.wantImported(t, all[0].ID)
				}
				g.clock.set(time.Now().Add(2 * time.Hour)) // the time of files
				if err := g.Transfer.SweepUploads(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := g.uploads(t); slices.ContainsFunc(got, func(name string) bool { return strings.HasSuffix(name, ".upload") }) {
					t.Errorf("step %d: uploads %q are left", step, got)
				}
				if said[0] == "waiting: done" {
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
	shops(t, func(t *testing.T, f *fixture) {
		dry := uploaded
		dry.DryRun = true
		bad := uploaded
		bad.SkipBad = false
		ids := []int64{f.start(t, dry, killedSales()), f.start(t, bad, killedSales()), f.start(t, uploadedAs("a.jsonl"), lines(itemText("ada", 7)))}
		f.runJobs(t)
		for i, want := range []string{"done false 1 ", "done false 1 ", "done true 0 "} {
			job, err := f.Transfer.Progress(t.Context(), operator, ids[i])
			got := string(job.State) + " " + job.Error
			if job.Report != nil {
				got = fmt.Sprintf("%s %t %d %s", job.State, job.Report.Written, job.Report.Bad, job.Error)
			}
			if err != nil || got != want {
				t.Errorf("%d: %q, %v, want %q", i, got, err, want)
			}
		}
		if got := f.uploads(t); len(got) != 3 { // the rejected rows of two, and the upload of the dry run
			t.Errorf("uploads %q", got)
		}
	})
}

func TestAnImportOfAnotherFolderWaitsForItsProcess(t *testing.T) {
	f := prepared(t, twoShopsStore.New(t, dbtest.Postgres))
	id := f.start(t, uploaded, killedSales())
	aside := filepath.Join(f.at.Dir, "aside")
	if err := os.Rename(filepath.Join(f.at.Dir, "uploads"), aside); err != nil {
		t.Fatal(err)
	}
	f.runJobs(t)
	if job, err := f.Transfer.Progress(t.Context(), operator, id); err != nil || job.State != jobs.Queued {
		t.Errorf("%+v, %v", job, err)
	}
	if err := os.Rename(aside, filepath.Join(f.at.Dir, "uploads")); err != nil {
		t.Fatal(err)
	}
	g := f.again(t)
	g.runJobs(t)
	if job, err := g.Transfer.Progress(t.Context(), operator, id); err != nil || job.State != jobs.Done {
		t.Errorf("%+v, %v", job, err)
	}
}

func TestAnUploadThatBreaksOffLeavesNothing(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := f.Transfer.Upload(ctx, operator, uploaded, &meddler{strings.NewReader(killedSales()), cancel})
		if !errors.Is(err, context.Canceled) || len(f.uploads(t)) != 0 {
			t.Errorf("%v, uploads %q", err, f.uploads(t))
		}
		for name, call := range map[string]func(people.Actor) error{
			"Upload":   func(a people.Actor) error { _, err := f.Transfer.Upload(t.Context(), a, uploaded, nil); return err },
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
