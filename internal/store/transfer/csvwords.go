package transfer

import (
	"cmp"
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

// maxWords is how many texts a column has at most that is asked about.
const maxWords = 30

// wordsIn are the texts of all columns that do not have too many.
func (p *csvPlan) wordsIn(rows [][]string) map[string][]Word {
	words, rows := map[string][]Word{}, sqldb.Convert(rows, p.shopCells)
	for i, name := range p.header {
		seen := map[string]bool{}
		var all []Word
		for _, row := range rows {
			text := strings.TrimSpace(row[i])
			if !seen[itemKey(text)] && len(all) <= maxWords {
				seen[itemKey(text)] = true
				all = append(all, p.word(text))
			}
		}
		if len(all) <= maxWords {
			words[name] = all
		}
	}
	return words
}

func (p *csvPlan) word(text string) Word {
	in := p.reading
	in.report = nil
	state, _ := in.readState(text)
	item, _, _ := p.items.find(text)
	return Word{text, state, item}
}
