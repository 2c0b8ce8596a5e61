package storetest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/transfer"
)

// CSVInto are options for rows of a workspace.
func CSVInto(workspace string, fields map[string]string) transfer.ImportOptions {
	return transfer.ImportOptions{CSV: &transfer.CSVOptions{Workspace: workspace, Map: fields}}
}

// Purchase reads a purchase by its code.
func (f *Fixture) Purchase(t testing.TB, code string) storedb.Purchase {
	t.Helper()
	r := must.Get(f.Validation.Check(t.Context(), Operator, code))(t)
	return r.Purchase
}

// meddler is what NewMeddler returns.
type meddler struct {
	*strings.Reader
	half func()
}

// NewMeddler returns a file that calls a function when half of it has been read.
func NewMeddler(file *strings.Reader, half func()) io.ReadSeeker { return &meddler{file, half} }

func (m *meddler) Read(p []byte) (int, error) {
	if m.half != nil && m.Len() < int(m.Size())/2 {
		m.half()
		m.half = nil
	}
	return m.Reader.Read(p)
}

// Rejected is a line that an import refused.
type Rejected struct {
	Line   int
	Reason string
}

// ImportText imports a file and returns what it refused.
func (f *Fixture) ImportText(t testing.TB, file string, o transfer.ImportOptions) (transfer.ImportReport, []Rejected) {
	t.Helper()
	var bad []Rejected
	o.Bad = func(line int, reason string, _ []byte) { bad = append(bad, Rejected{line, reason}) }
	report := must.Get(f.Transfer.Import(t.Context(), Operator, strings.NewReader(file), o))(t)
	return report, bad
}

// MustImport imports a file without bad lines.
func (f *Fixture) MustImport(t testing.TB, file string) transfer.ImportReport {
	t.Helper()
	report, bad := f.ImportText(t, file, transfer.ImportOptions{})
	if len(bad) > 0 || !report.Written {
		t.Fatalf("bad lines %v, written: %t", bad, report.Written)
	}
	return report
}

// MustExport exports the store.
func (f *Fixture) MustExport(t testing.TB, withKeys bool) string {
	t.Helper()
	var out strings.Builder
	must.Do(t, f.Transfer.Export(t.Context(), Operator, &out, withKeys))
	return out.String()
}

// BeforeImport has an item and two purchases that undoneFile changes.
var BeforeImport = Lines(ItemText("ada", 1, `"description":"old"`, `"tags":["a"]`, `"media":{"screenshots":["https://x.example/1"]}`, `"licensing":{"regular_domains":5,"wildcard":false,"staging_hosts":[]}`),
	PurchaseText("ada", 1, "old-1", `"state":"refunded","state_at":"2026-05-05T05:05:05Z"`, `"buyer":{"name":"Zoe","email":"z@x.example"}`), PurchaseText("ada", 2, "old-2"), PurchaseText("ada", 1, "old-3"))

// undoneFile adds the item 7 and the purchases new-1 and new-2, and changes item 1 and the
// purchases old-1 and old-2.
var undoneFile = Lines(ItemText("ada", 1, `"name":"changed"`), ItemText("ada", 7),
	PurchaseText("ada", 7, "new-1"), PurchaseText("ada", 1, "new-2"), PurchaseText("ada", 7, "OLD-1"), PurchaseText("ada", 2, "old-2", `"price":7.00`), PurchaseText("ada", 1, "old-3"))

// ImportToUndo imports both, and returns the second import and the exports before and after it.
func (f *Fixture) ImportToUndo(t testing.TB) (id int64, before, after string) {
	t.Helper()
	f.MustImport(t, BeforeImport)
	before = f.MustExport(t, false)
	id = f.MustImport(t, undoneFile).ID
	after = f.MustExport(t, false)
	if id == 0 || after == before {
		t.Fatalf("import %d", id)
	}
	return id, before, after
}

// Uploaded imports KilledSales into ada, and leaves out what is bad.
var Uploaded = UploadedAs("sales.csv")

// UploadedAs is Uploaded for a file with another name.
func UploadedAs(file string) transfer.NewImport {
	return transfer.NewImport{File: file, Workspace: "ada", SkipBad: true}
}

// KilledRows is the number of rows of KilledSales: the progress of an import is written within them.
const KilledRows = 1200

// KilledSales is a file of sales, of which two are bad, the second only when all are known.
func KilledSales() string {
	var file strings.Builder
	file.WriteString("code,item_id,license,currency,date\n")
	for i := range KilledRows {
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

// RunJobs runs all jobs that can be run now.
func RunJobs(t testing.TB, queue *jobs.Queue) {
	t.Helper()
	for ran := true; ran; {
		var err error
		if ran, err = queue.RunNext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Begin uploads a file and has it imported as a job, whose id it returns.
func Begin(ctx context.Context, s *transfer.Service, a people.Actor, n transfer.NewImport, file string) (int64, error) {
	id, err := s.Upload(ctx, a, n, strings.NewReader(file))
	if err != nil {
		return 0, err
	}
	return s.Confirm(ctx, a, id, n)
}

// StartImport is Begin by the operator.
func (f *Fixture) StartImport(t testing.TB, n transfer.NewImport, file string) int64 {
	t.Helper()
	return must.Get(Begin(t.Context(), f.Transfer, Operator, n, file))(t)
}

// Picture is a PNG of some width.
func Picture(t testing.TB, width int) media.Upload {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, image.NewRGBA(image.Rect(0, 0, width, 2))))
	return media.Upload{Name: "../rain.png", From: &b}
}
