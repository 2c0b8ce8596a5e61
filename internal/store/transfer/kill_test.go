package transfer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

func TestMain(m *testing.M) {
	storetest.Main(m, map[string]storetest.Act{
		"import": func(ctx context.Context, s *store.Store, step func()) error {
			_, err := s.Transfer.Import(ctx, storetest.Operator, strings.NewReader(killedImport()), transfer.ImportOptions{Progress: func(int64) { step() }})
			return err
		},
		"job": func(ctx context.Context, s *store.Store, _ func()) error {
			_, err := storetest.Begin(ctx, s.Transfer, storetest.Operator, storetest.Uploaded, storetest.KilledSales())
			if err == nil {
				_, err = s.Transfer.Queue().RunNext(ctx)
			}
			return err
		},
		"upload": func(ctx context.Context, s *store.Store, _ func()) error {
			id, err := s.Transfer.Upload(ctx, storetest.Operator, storetest.Uploaded, strings.NewReader(storetest.KilledSales()))
			if err == nil {
				dry := storetest.Uploaded
				dry.DryRun = true
				_, err = s.Transfer.Confirm(ctx, storetest.Operator, id, dry)
			}
			if err == nil {
				_, err = s.Transfer.Confirm(ctx, storetest.Operator, id, storetest.Uploaded)
			}
			return err
		},
	})
}

// killedImport is a file with something of everything.
func killedImport() string {
	var file strings.Builder
	file.WriteString(storetest.Lines(storetest.WorkspaceText("ada", `"quota":5`), storetest.WorkspaceText("eve"), storetest.KeyText("eve", "a"), storetest.KeyText("eve", "b"),
		storetest.ItemText("eve", 10), storetest.ItemText("ada", 1, `"name":"renamed"`)))
	for i := range 1100 {
		file.WriteString(storetest.PurchaseText("eve", 10, "killed-"+storetest.Text(i)) + "\n")
	}
	return file.String()
}

func TestKilledImportIsAllOrNothing(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		before := f.MustExport(t, false)
		whole := storetest.Prepared(t, dbtest.New(t, dbtest.SQLite))
		whole.MustImport(t, before)
		whole.MustImport(t, killedImport())
		after := whole.MustExport(t, false)
		for step := range dbtest.Steps(f.At.Engine) {
			last := storetest.Killed(t, f.At, "import", step, 20)
			want := map[bool]string{false: before, true: after}[last]
			if got := storetest.WantWhole(t, f).MustExport(t, false); got != want {
				t.Fatalf("killed at step %d (done: %t): %s", step, last, storetest.FirstDifference(want, got))
			}
			if last && step < 6 {
				t.Errorf("the import has %d steps only: it was never killed in its transaction", step)
			}
			if last {
				break
			}
		}
	})
}
