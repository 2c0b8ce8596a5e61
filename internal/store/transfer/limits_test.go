package transfer_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// salesHeader names the columns of sales and n others.
func salesHeader(n int, name string) string {
	return "code,item_id,license,currency,date" + strings.Repeat(","+name, n) + "\n"
}

func TestAHeaderIsLimited(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		var unknown []string
		for i := range 900 {
			unknown = append(unknown, fmt.Sprintf("column-%d", i))
		}
		cases := []struct{ name, header, code string }{
			{"as many columns as can be", salesHeader(995, ""), ""},
			{"too many columns", salesHeader(996, ""), "csv_header"},
			{"a long name", salesHeader(1, strings.Repeat("ä", 256)), "csv_header"},
			{"many unknown names", salesHeader(1, strings.Join(unknown, ",")), "csv_columns"},
		}
		for _, c := range cases {
			o := storetest.CSVInto("ada", nil)
			_, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(c.header), o)
			if storetest.CodeOf(err) != c.code || len(storetest.MessageOf(err)) > 1000 {
				t.Errorf("%s: %.2000v", c.name, err)
			}
			_, err = f.Transfer.Upload(t.Context(), storetest.Operator, storetest.Uploaded, strings.NewReader(c.header))
			expect.Equalf(t, c.code == "csv_header", fault.HasCode(err, "csv_header"), "%s, as an upload: %v", c.name, err)
		}
	})
}

func TestRejectedRowsHaveLimitedRoom(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		for name, file := range map[string]string{
			"sales.csv":   salesHeader(995, "") + strings.Repeat("x\n", 3000),
			"sales.jsonl": strings.Repeat("x\n", 40_000),
		} {
			n := transfer.NewImport{File: name, Workspace: "ada", SkipBad: true}
			id := f.StartImport(t, n, file)
			storetest.RunJobs(t, f.Transfer.Queue())
			report, rejected, err := f.Transfer.Result(t.Context(), storetest.Operator, id)
			if err != nil || report.Bad != strings.Count(file, "x\n") {
				t.Fatalf("%s: %+v, %v", name, report, err)
			}
			text, err := io.ReadAll(rejected)
			if most := 3*len(file) + 1<<20 + 100; err != nil || len(text) > most || !strings.Contains(string(text[len(text)-60:]), "more rows were rejected than fit into this file") {
				t.Errorf("%s: %d bytes of %d, end %q, %v", name, len(text), most, text[len(text)-60:], err)
			}
			if rows, err := f.Transfer.Rejected(t.Context(), storetest.Operator, id, 100_000); err != nil || rows[len(rows)-1].Text != "" || rejected.Close() != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestFewImportsOfAWorkspaceWait(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		n := transfer.NewImport{File: "a.jsonl", Workspace: "ada"}
		start := func(workspace string) (int64, error) {
			n.Workspace = workspace
			return storetest.Begin(t.Context(), f.Transfer, storetest.Operator, n, storetest.Lines(storetest.ItemText(workspace, 1)))
		}
		var last int64
		for range 10 {
			id := must.Get(start("ada"))(t)
			last = id
		}
		_, err := start("ada")
		storetest.WantError(t, err, "imports_waiting")
		if _, err := start("bob"); err != nil {
			t.Errorf("another workspace: %v", err)
		}
		if got := len(uploads(t, f)); got != 12 { // those of 11 jobs, and the upload that was refused waits on
			t.Errorf("%d files", got)
		}
		waiting, err := f.Transfer.Upload(t.Context(), storetest.Operator, storetest.Uploaded, strings.NewReader(storetest.KilledSales()))
		must.Do(t, err)
		for _, dry := range []bool{true, false} {
			how := storetest.Uploaded
			how.DryRun = dry
			_, err = f.Transfer.Confirm(t.Context(), storetest.Operator, waiting, how)
			storetest.WantError(t, err, "imports_waiting")
		}
		must.Do(t, f.Transfer.Cancel(t.Context(), storetest.Operator, last))
		id, err := f.Transfer.Confirm(t.Context(), storetest.Operator, waiting, storetest.Uploaded)
		must.Do(t, err)
		storetest.RunJobs(t, f.Transfer.Queue())
		if job, err := f.Transfer.Progress(t.Context(), storetest.Operator, id); err != nil || job.State != jobs.Done {
			t.Errorf("%+v, %v", job, err)
		}
		if _, err := start("ada"); err != nil {
			t.Errorf("when they have ended: %v", err)
		}
	})
}

func TestFewUploadsOfAWorkspaceWait(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		var last int64
		upload := func(workspace string) (err error) {
			last, err = f.Transfer.Upload(t.Context(), storetest.Operator, transfer.NewImport{File: "a.csv", Workspace: workspace}, strings.NewReader(salesHeader(0, "")))
			return err
		}
		for range 10 {
			must.Do(t, upload("ada"))
		}
		discarded := last
		storetest.WantError(t, upload("ada"), "uploads_waiting")
		expect.Equalf(t, len(uploads(t, f)), 10, "files")
		expect.NoErrorf(t, upload("bob"), "another workspace")
		must.Do(t, f.Transfer.Discard(t.Context(), storetest.Operator, discarded))
		expect.NoErrorf(t, upload("ada"), "when one was discarded")
	})
}

func TestWhatIsWrongIsSaidInAFewWords(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		long := strings.Repeat("ä", 100_000)
		_, bad := f.ImportText(t, storetest.Lines(storetest.PurchaseText("ada", 1, "a-code", `"currency":"`+long+`"`)), transfer.ImportOptions{})
		if len(bad) != 1 || !strings.HasPrefix(bad[0].Reason, `invalid currency "ä`) || len(bad[0].Reason) > 1100 {
			t.Errorf("%.2000v", bad)
		}
		n := transfer.NewImport{File: "a.csv", Workspace: "ada", CSV: transfer.CSVOptions{Map: map[string]string{"code": long}}}
		if _, err := storetest.Begin(t.Context(), f.Transfer, storetest.Operator, n, salesHeader(0, "")); !fault.HasCode(err, "csv_columns") || len(storetest.MessageOf(err)) > 1000 {
			t.Errorf("%.2000v", err)
		}
	})
}
