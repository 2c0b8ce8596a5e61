package transfer_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

func TestAnUploadWaitsForADay(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		id := must.Get(f.Transfer.Upload(t.Context(), storetest.Operator, storetest.Uploaded, strings.NewReader(storetest.KilledSales())))(t)
		storetest.RunJobs(t, f.Transfer.Queue())
		f.Clock.Set(storetest.Noon.Add(23 * time.Hour))
		sweep := func(want int) {
			t.Helper()
			must.Do(t, f.Transfer.SweepUploads(t.Context()))
			waiting, err := f.Transfer.Uploads(t.Context(), storetest.Operator, "ada")
			if got := uploads(t, f); err != nil || len(got) != want || len(waiting) != want {
				t.Errorf("uploads %q, %+v, %v", got, waiting, err)
			}
		}
		sweep(1)
		p, err := f.Transfer.Preview(t.Context(), storetest.Operator, id, "", "")
		if err != nil || p.CSV.Rows != transfer.RowsPurchases || p.CSV.Columns[0].Field != "purchase_code" || len(p.CSV.First) != 5 || p.CSV.First[4][0] != "killed-4-of-many-sales" {
			t.Errorf("%+v, %v", p.CSV, err)
		}
		f.Clock.Set(time.Now().Add(25 * time.Hour)) // the time of files
		sweep(0)
		if _, err := f.Transfer.Confirm(t.Context(), storetest.Operator, id, storetest.Uploaded); !fault.HasCode(err, "upload_not_found") {
			t.Errorf("confirmed after a day: %v", err)
		}
	})
}

func TestAnUploadIsImportedOnce(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("bob", 3, "taken")))
		id := must.Get(f.Transfer.Upload(t.Context(), storetest.Operator, storetest.Uploaded, strings.NewReader(storetest.KilledSales())))(t)
		dry := storetest.Uploaded
		dry.DryRun = true
		tried, errTried := f.Transfer.Confirm(t.Context(), storetest.Operator, id, dry)
		done, errDone := f.Transfer.ConfirmDryRun(t.Context(), storetest.Operator, tried) // while the dry run waits
		_, errConfirm := f.Transfer.Confirm(t.Context(), storetest.Operator, id, storetest.Uploaded)
		if errTried != nil || errDone != nil || !fault.HasCode(errConfirm, "upload_not_found") {
			t.Fatal(errTried, errDone, errConfirm)
		}
		storetest.RunJobs(t, f.Transfer.Queue())
		wantImported(t, f, done)
		if report, rejected, err := f.Transfer.Result(t.Context(), storetest.Operator, tried); err != nil || report.Written || report.Purchases.New != storetest.KilledRows-2 || rejected.Close() != nil {
			t.Errorf("%+v, %v", report, err)
		}
		rows, err := f.Transfer.Rejected(t.Context(), storetest.Operator, tried, 1)
		if err != nil || len(rows) != 1 || rows[0] != (transfer.RejectedRow{Text: "killed-400-of-many-sales,3,Regular,USD,2024-04-27", Reason: "the workspace ada has no item 3"}) {
			t.Errorf("%+v, %v", rows, err)
		}
		if got := uploads(t, f); len(got) != 2 || slices.ContainsFunc(got, isUpload) {
			t.Errorf("uploads %q", got)
		}
	})
}

func isUpload(name string) bool { return strings.HasSuffix(name, ".upload") }

func TestAKilledUploadIsThereOrSwept(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.EnginesOf(t.Name()) {
		t.Run(engine, func(t *testing.T) {
			outcomes := map[string]int{}
			for step, last := 1, false; !last; step++ {
				f := storetest.Prepared(t, storetest.TwoShopsStore.New(t, engine))
				f.MustImport(t, storetest.Lines(storetest.PurchaseText("bob", 3, "taken")))
				last = storetest.Killed(t, f.At, "upload", step, 40)
				g := storetest.WantWhole(t, f)
				all := must.Get(jobs.List(t.Context(), g.DB().Queries, "import"))(t)
				waiting := must.Get(g.Transfer.Uploads(t.Context(), storetest.Operator, "ada"))(t)
				switch {
				case len(all) == 0 && len(waiting) == 0:
					outcomes["nothing"]++
				case len(waiting) == 1:
					outcomes["waits"]++
					if _, err := g.Transfer.Confirm(t.Context(), storetest.Operator, waiting[0].ID, storetest.Uploaded); err != nil {
						t.Errorf("step %d: %v", step, err)
					}
				default:
					outcomes["confirmed"]++
				}
				g.Clock.Set(storetest.Noon.Add(time.Hour))
				storetest.RunJobs(t, g.Transfer.Queue())
				if got, want := g.Rows(t, "purchases"), int64(storetest.KilledRows-1); got != want && len(all)+len(waiting) > 0 {
					t.Errorf("step %d: %d purchases, want %d", step, got, want)
				}
				g.Clock.Set(time.Now().Add(25 * time.Hour)) // the time of files
				must.Do(t, g.Transfer.SweepUploads(t.Context()))
				if got := uploads(t, g); slices.ContainsFunc(got, isUpload) {
					t.Errorf("step %d: uploads %q are left", step, got)
				}
			}
			if outcomes["nothing"] == 0 || outcomes["waits"] == 0 || outcomes["confirmed"] == 0 {
				t.Errorf("killed at too few stages: %v", outcomes)
			}
		})
	}
}
