package transfer

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// endless is a file whose rows never end, made by a function from their numbers.
type endless struct {
	row  func(n int) string
	n    int
	rest string
}

// Read implements [io.Reader].
func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		e.rest = e.row(e.n)
		e.n++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// A file without an end stands for any that is longer than what a preview may read.
func TestAPreviewReadsAFileOfAnySizeInBoundedMemory(t *testing.T) {
	const columns = 400
	wide := strings.Repeat(",", columns-1)
	for name, c := range map[string]struct {
		header string
		row    func(n int) string
	}{
		"short rows":   {"code,buyer", func(n int) string { return fmt.Sprintf("code-%d,buyer %d\n", n, n%5) }},
		"many columns": {wide, func(n int) string { return wide[:n%columns] + fmt.Sprint(n) + "\n" }},
		"long cells":   {"code,buyer", func(n int) string { return fmt.Sprintf("%d,%s\n", n, strings.Repeat("x", 100_000)) }},
		"many texts":   {"code,buyer", func(n int) string { return fmt.Sprintf("%d,%090d\n", n, n) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newCSVReader(io.MultiReader(strings.NewReader(c.header+"\n"), &endless{row: c.row}), "")
			header := must.Get(r.header())(t)
			p := newCSVPlan(header, &CSVOptions{})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			first, words, err := p.look(t.Context(), r)
			runtime.ReadMemStats(&after)
			const most = 100 << 20 // in all, most of it garbage: what is kept is a few texts of each column
			if used := after.TotalAlloc - before.TotalAlloc; err != nil || used > most || len(first) != previewRows {
				t.Errorf("%d MB allocated, %d rows, %v", used>>20, len(first), err)
			}
			for column, texts := range words {
				if len(texts) > maxWords {
					t.Errorf("%d texts of the column %q", len(texts), column)
				}
			}
		})
	}
}
