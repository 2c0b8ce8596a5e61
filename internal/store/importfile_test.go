package store

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store/transfer"
)

func TestFormsOfAFile(t *testing.T) {
	good := []string{workspaceText("ada"), itemText("ada", 1), purchaseText("ada", 1, "code")}
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
			f := prepared(t, emptyStore.New(t, dbtest.Either(t)))
			report := f.mustImport(t, c.file)
			if report.Lines != 3 || f.rows(t, "workspaces") != 1 || f.rows(t, "items") != 1 || f.rows(t, "purchases") != 1 {
				t.Errorf("report %+v", report)
			}
		})
	}
}

func TestEmptyFile(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, file := range []string{"", "\n", "\ufeff"} {
			if report := f.mustImport(t, file); report.Lines != 0 {
				t.Errorf("%q: %+v", file, report)
			}
		}
	})
}

func TestLineThatIsTooLong(t *testing.T) {
	pad := func(size int) string {
		line := itemText("ada", 9, `"description":""`)
		return strings.Replace(line, `"description":""`, `"description":"`+strings.Repeat(" ", size-len(line))+`"`, 1)
	}
	engines(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, twoShops)
		const maxLine = 1 << 20
		const tooLong = "the line is longer than 1048576 bytes; it is not copied to the rejected lines"
		for size, reason := range map[int]string{
			maxLine: "description is longer than 100000 characters", maxLine + 1: tooLong, 3 * maxLine: tooLong,
		} {
			report, bad := f.importText(t, lines(pad(size), purchaseText("ada", 1, "code-"+text(size))), transfer.ImportOptions{SkipBad: true})
			if len(bad) != 1 || bad[0] != (rejected{1, reason}) || report.Purchases.New != 1 {
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
	shops(t, func(t *testing.T, f *fixture) {
		file := brokenFile{strings.NewReader(lines(purchaseText("ada", 1, "code")) + `{"type":"purch`), errors.New("input/output error")}
		report, err := f.Transfer.Import(t.Context(), operator, file, transfer.ImportOptions{SkipBad: true})
		if !errors.Is(err, file.err) || report.Written || f.rows(t, "purchases") != 0 {
			t.Errorf("%+v, %v, %d purchases", report, err, f.rows(t, "purchases"))
		}
	})
}

// meddler calls a function when half of a file has been read.
type meddler struct {
	*strings.Reader
	half func()
}

func (m *meddler) Read(p []byte) (int, error) {
	if m.half != nil && m.Len() < int(m.Size())/2 {
		m.half()
		m.half = nil
	}
	return m.Reader.Read(p)
}

// While lines are staged, other processes write.
func TestImportBlocksNoWriterWhileItReads(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		other := f.again(t)
		var file strings.Builder
		for i := range 2000 {
			file.WriteString(purchaseText("ada", 1, "code-"+text(i)) + "\n")
		}
		called := false
		_, err := f.Transfer.Import(t.Context(), operator, &meddler{strings.NewReader(file.String()), func() {
			called = true
			if _, err := other.CreatePurchase(t.Context(), operator, "ada", Purchase{ItemID: 1, License: "Regular", Code: "meanwhile"}); err != nil {
				t.Errorf("another writer: %v", err)
			}
		}}, transfer.ImportOptions{})
		if err != nil || !called || f.rows(t, "purchases") != 2001 {
			t.Errorf("%d purchases, %v", f.rows(t, "purchases"), err)
		}
	})
}

func TestCancelledImportWritesNothing(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		ctx, cancel := contextWithCancel(t)
		var file strings.Builder
		for i := range 3000 {
			file.WriteString(purchaseText("ada", 1, "code-"+text(i)) + "\n")
		}
		_, err := f.Transfer.Import(ctx, operator, &meddler{strings.NewReader(file.String()), cancel}, transfer.ImportOptions{})
		if err == nil || f.rows(t, "purchases") != 0 {
			t.Errorf("%v, %d purchases", err, f.rows(t, "purchases"))
		}
		f.mustImport(t, lines(purchaseText("ada", 1, "afterwards")))
	})
}

func TestProgressEndsAtTheEndOfTheFile(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		var file strings.Builder
		for i := range 2500 {
			file.WriteString(purchaseText("ada", 1, "code-"+text(i)) + "\n")
		}
		var told []int64
		_, err := f.Transfer.Import(t.Context(), operator, strings.NewReader(file.String()), transfer.ImportOptions{Progress: func(bytes int64) { told = append(told, bytes) }})
		if err != nil || len(told) != 3 || !slices.IsSorted(told) || told[2] != int64(file.Len()) {
			t.Errorf("told %v of %d, %v", told, file.Len(), err)
		}
	})
}
