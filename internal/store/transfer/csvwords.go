package transfer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Word is a text in a column, and what it means as the state and as the item: "" and 0 when nobody has said it.
type Word struct {
	Text  string
	State storedb.State
	Item  int64
}

// Label is the text, or what is shown for an empty cell.
func (w Word) Label() string { return cmp.Or(w.Text, "(empty)") }

// Bounds of what a preview reads.
const (
	maxWords     = 30 // of a column that is asked about
	longestWord  = 100
	wordRows     = 10_000
	maxLookBytes = 8 << 20
)

// look reads the first rows, and the texts of all columns that do not have too many, or too long ones.
func (p *csvPlan) look(ctx context.Context, r *csvReader) (first [][]string, words map[string][]Word, err error) {
	texts, row := make([]columnTexts, len(p.header)), make([]string, len(p.header))
	for n, read := 0, 0; n < wordRows && read < maxLookBytes && r.next(); n++ {
		read += len(r.text)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		cells, err := r.cells()
		var unreadable *badLine
		if errors.As(err, &unreadable) || err == nil && isEmpty(cells) {
			continue // it is rejected later, with the reason
		}
		if err != nil {
			return nil, nil, err
		}
		clear(row)
		for i, cell := range cells[:min(len(cells), len(row))] {
			row[i] = plainCell(cell)
		}
		if len(first) < previewRows {
			first = append(first, slices.Clone(row))
		}
		for i, cell := range p.shopCells(row) {
			texts[i].note(cell)
		}
	}
	words = map[string][]Word{}
	for i, name := range p.header {
		if !texts[i].tooMany {
			words[name] = sqldb.Convert(texts[i].list, p.word)
		}
	}
	return first, words, r.err
}

// columnTexts are the texts of a column, each once.
type columnTexts struct {
	list    []string
	seen    map[string]bool
	tooMany bool
}

func (t *columnTexts) note(cell string) {
	if t.tooMany {
		return
	}
	if t.tooMany = len(cell) > longestWord; t.tooMany {
		t.list, t.seen = nil, nil
		return
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	if key := itemKey(cell); !t.seen[key] {
		t.seen[key] = true
		t.list = append(t.list, strings.TrimSpace(cell))
		t.tooMany = len(t.list) > maxWords
	}
}

func (p *csvPlan) word(text string) Word {
	in := p.reading
	in.report = nil
	state, _ := in.readState(text)
	if _, said := in.states[""]; text == "" && !said {
		state = "" // nobody has said it
	}
	item, _, _ := p.items.find(text)
	return Word{text, state, item}
}
