package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/store/transfer"
)

func TestAnUploadWaitsForADay(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		id, err := f.Transfer.Upload(t.Context(), operator, uploaded, strings.NewReader(killedSales()))
		if err != nil {
			t.Fatal(err)
		}
		f.runJobs(t)
		f.clock.set(noon.Add(23 * time.Hour))
		sweep := func(want int) {
			t.Helper()
			if err := f.Transfer.SweepUploads(t.Context()); err != nil {
				t.Fatal(err)
			}
			waiting, err := f.Transfer.Uploads(t.Context(), operator, "ada")
			if got := f.uploads(t); err != nil || len(got) != want || len(waiting) != want {
				t.Errorf("uploads %q, %+v, %v", got, waiting, err)
			}
		}
		sweep(1)
		p, err := f.Transfer.Preview(t.Context(), operator, id, "")
		if err != nil || p.CSV.Rows != transfer.RowsPurchases || p.CSV.Columns[0].Field != "purchase_code" || len(p.CSV.First) != 5 || p.CSV.First[4][0] != "killed-4-of-many-sales" {
			t.Errorf("%+v, %v", p.CSV, err)
		}
		f.clock.set(time.Now().Add(25 * time.Hour)) // the time of files
		sweep(0)
		if _, err := f.Transfer.Confirm(t.Context(), operator, id, uploaded); !fault.HasCode(err, "upload_not_found") {
			t.Errorf("confirmed after a day: %v", err)
		}
	})
}

func TestAnUploadIsImportedOnce(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(purchaseText("bob", 3, "taken")))
		id, err := f.Transfer.Upload(t.Context(), operator, uploaded, strings.NewReader(killedSales()))
		if err != nil {
			t.Fatal(err)
		}
		dry := uploaded
		dry.DryRun = true
		tried, err1 := f.Transfer.Confirm(t.Context(), operator, id, dry)
		done, err2 := f.Transfer.ConfirmDryRun(t.Context(), operator, tried) // while the dry run waits
		_, err3 := f.Transfer.Confirm(t.Context(), operator, id, uploaded)
		if err1 != nil || err2 != nil || !fault.HasCode(err3, "upload_not_found") {
			t.Fatal(err1, err2, err3)
		}
		f.runJobs(t)
		f.wantImported(t, done)
		if report, rejected, err := f.Transfer.Result(t.Context(), operator, tried); err != nil || report.Written || report.Purchases.New != killedRows-2 || rejected.Close() != nil {
			t.Errorf("%+v, %v", report, err)
		}
		rows, err := f.Transfer.Rejected(t.Context(), operator, tried, 1)
		if err != nil || len(rows) != 1 || rows[0] != (transfer.RejectedRow{Text: "killed-400-of-many-sales,3,Regular,USD,2024-04-27", Reason: "the workspace ada has no item 3"}) {
			t.Errorf("%+v, %v", rows, err)
		}
		if got := f.uploads(t); len(got) != 2 || slices.ContainsFunc(got, isUpload) {
			t.Errorf("uploads %q", got)
		}
	})
}

func isUpload(name string) bool { return strings.HasSuffix(name, ".upload") }

func TestAKilledUploadIsThereOrSwept(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			outcomes := map[string]int{}
			for step, last := 1, false; !last; step++ {
				if step > 40 {
					t.Fatal("the upload takes more steps than expected")
				}
				f := prepared(t, twoShopsStore.New(t, engine))
				f.mustImport(t, lines(purchaseText("bob", 3, "taken")))
				said := killed(t, f.at, "upload", step, waiting)
				if len(said) != 1 {
					t.Fatalf("step %d: said %q", step, said)
				}
				last = said[0] == "waiting: done"
				g := wantWhole(t, f)
				all, err := jobs.List(t.Context(), g.db.Queries, "import")
				if err != nil {
					t.Fatal(err)
				}
				waiting, err := g.Transfer.Uploads(t.Context(), operator, "ada")
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case len(all) == 0 && len(waiting) == 0:
					outcomes["nothing"]++
				case len(waiting) == 1:
					outcomes["waits"]++
					if _, err := g.Transfer.Confirm(t.Context(), operator, waiting[0].ID, uploaded); err != nil {
						t.Errorf("step %d: %v", step, err)
					}
				default:
					outcomes["confirmed"]++
				}
				g.clock.set(noon.Add(time.Hour))
				g.runJobs(t)
				if got, want := g.rows(t, "purchases"), int64(killedRows-1); got != want && len(all)+len(waiting) > 0 {
					t.Errorf("step %d: %d purchases, want %d", step, got, want)
				}
				g.clock.set(time.Now().Add(25 * time.Hour)) // the time of files
				if err := g.Transfer.SweepUploads(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := g.uploads(t); slices.ContainsFunc(got, isUpload) {
					t.Errorf("step %d: uploads %q are left", step, got)
				}
			}
			if outcomes["nothing"] == 0 || outcomes["waits"] == 0 || outcomes["confirmed"] == 0 {
				t.Errorf("killed at too few stages: %v", outcomes)
			}
		})
	}
}
