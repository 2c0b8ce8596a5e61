package transfer_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

func TestFormsOfAFile(t *testing.T) {
	good := []string{storetest.WorkspaceText("ada"), storetest.ItemText("ada", 1), storetest.PurchaseText("ada", 1, "code")}
	cases := []struct{ name, file string }{
		{"lines end with a line feed", strings.Join(good, "\n") + "\n"},
		{"the last line has no end", strings.Join(good, "\n")},
		{"lines end as on Windows", strings.Join(good, "\r\n") + "\r\n"},
		{"a byte order mark begins it", "\ufeff" + strings.Join(good, "\n")},
		{"a byte order mark and a blank line begin it", "\ufeff\n" + strings.Join(good, "\n")},
		{"blank lines stand between", "\n\n" + strings.Join(good, "\n \t\n\r\n") + "\n\n"},
		{"spaces stand around lines", "  " + strings.Join(good, "  \n\t")},
		{"the type stands last", strings.Join([]string{`{"username":"ada","currency":"USD","registered_at":"2024-04-27 12:00:00","type":"workspace"}`, good[1], good[2]}, "\n")},
		{"space stands inside a line", strings.ReplaceAll(strings.Join(good, "\n"), `,"`, ` , "`)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := storetest.Prepared(t, storetest.EmptyStore.New(t, dbtest.Either(t)))
			report := f.MustImport(t, c.file)
			if report.Lines != 3 || f.Rows(t, "workspaces") != 1 || f.Rows(t, "items") != 1 || f.Rows(t, "purchases") != 1 {
				t.Errorf("report %+v", report)
			}
		})
	}
}

func TestEmptyFile(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		for _, file := range []string{"", "\n", "\ufeff"} {
			if report := f.MustImport(t, file); report.Lines != 0 {
				t.Errorf("%q: %+v", file, report)
			}
		}
	})
}

func TestLineThatIsTooLong(t *testing.T) {
	pad := func(size int) string {
		line := storetest.ItemText("ada", 9, `"description":""`)
		return strings.Replace(line, `"description":""`, `"description":"`+strings.Repeat(" ", size-len(line))+`"`, 1)
	}
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.TwoShops)
		const maxLine = 1 << 20
		const tooLong = "the line is longer than 1048576 bytes; it is not copied to the rejected lines"
		for size, reason := range map[int]string{
			maxLine: "description is longer than 100000 characters", maxLine + 1: tooLong, 3 * maxLine: tooLong,
		} {
			report, bad := f.ImportText(t, storetest.Lines(pad(size), storetest.PurchaseText("ada", 1, "code-"+storetest.Text(size))), transfer.ImportOptions{SkipBad: true})
			if len(bad) != 1 || bad[0] != (storetest.Rejected{Line: 1, Reason: reason}) || report.Purchases.New != 1 {
				t.Errorf("%d bytes: %v, %+v", size, bad, report)
			}
		}
	})
}

// brokenFile fails after some bytes, as a disk does.
type brokenFile struct {
	io.ReadSeeker
	err error
}

func (b brokenFile) Read(p []byte) (int, error) {
	n, err := b.ReadSeeker.Read(p)
	if errors.Is(err, io.EOF) {
		err = b.err
	}
	return n, err
}

func TestFileThatCannotBeReadToItsEnd(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := brokenFile{strings.NewReader(storetest.Lines(storetest.PurchaseText("ada", 1, "code")) + `{"type":"purch`), errors.New("input/output error")}
		report, err := f.Transfer.Import(t.Context(), storetest.Operator, file, transfer.ImportOptions{SkipBad: true})
		if !errors.Is(err, file.err) || report.Written || f.Rows(t, "purchases") != 0 {
			t.Errorf("%+v, %v, %d purchases", report, err, f.Rows(t, "purchases"))
		}
	})
}

// While lines are staged, other processes write.
func TestImportBlocksNoWriterWhileItReads(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		other := f.Again(t)
		var file strings.Builder
		for i := range 2000 {
			file.WriteString(storetest.PurchaseText("ada", 1, "code-"+storetest.Text(i)) + "\n")
		}
		called := false
		_, err := f.Transfer.Import(t.Context(), storetest.Operator, storetest.NewMeddler(strings.NewReader(file.String()), func() {
			called = true
			if _, err := other.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{ItemID: 1, License: "Regular", Code: "meanwhile"}); err != nil {
				t.Errorf("another writer: %v", err)
			}
		}), transfer.ImportOptions{})
		if err != nil || !called || f.Rows(t, "purchases") != 2001 {
			t.Errorf("%d purchases, %v", f.Rows(t, "purchases"), err)
		}
	})
}

func TestCancelledImportWritesNothing(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		var file strings.Builder
		for i := range 3000 {
			file.WriteString(storetest.PurchaseText("ada", 1, "code-"+storetest.Text(i)) + "\n")
		}
		_, err := f.Transfer.Import(ctx, storetest.Operator, storetest.NewMeddler(strings.NewReader(file.String()), cancel), transfer.ImportOptions{})
		if err == nil || f.Rows(t, "purchases") != 0 {
			t.Errorf("%v, %d purchases", err, f.Rows(t, "purchases"))
		}
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "afterwards")))
	})
}

func TestProgressEndsAtTheEndOfTheFile(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		var file strings.Builder
		for i := range 2500 {
			file.WriteString(storetest.PurchaseText("ada", 1, "code-"+storetest.Text(i)) + "\n")
		}
		var reported []int64
		_, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(file.String()), transfer.ImportOptions{Progress: func(bytes int64) { reported = append(reported, bytes) }})
		if err != nil || len(reported) != 3 || !slices.IsSorted(reported) || reported[2] != int64(file.Len()) {
			t.Errorf("told %v of %d, %v", reported, file.Len(), err)
		}
	})
}
