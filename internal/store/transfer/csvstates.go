package transfer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/storedb"
)

// StateSkipped is what a word of a column of states means when the sale was never paid, or not yet:
// its row is left out.
const StateSkipped storedb.State = "skip"

// usualStates are the words that shops have for the state of a sale, folded. A sale of which a part
// was refunded stays good.
var usualStates = words(map[storedb.State]string{
	storedb.StateActive:      "active completed complete paid publish published delivered succeeded success sold valid enabled 1 partiallyrefunded partiallyrefund partialrefund",
	storedb.StateRefunded:    "refunded refund fullyrefunded",
	storedb.StateChargedBack: "chargedback chargeback disputed dispute reversed reversal",
	storedb.StateRevoked:     "revoked disabled inactive suspended blocked banned deactivated 0",
	StateSkipped:             "failed pending cancelled canceled onhold draft unpaid void voided declined denied abandoned trash checkoutdraft pendingpayment awaitingpayment authorized",
})

func words(lists map[storedb.State]string) map[string]storedb.State {
	all := map[string]storedb.State{"": storedb.StateActive}
	for state, list := range lists {
		for word := range strings.FieldsSeq(list) {
			all[word] = state
		}
	}
	return all
}

// statesOf folds the words.
func statesOf(said map[string]storedb.State) map[string]storedb.State {
	all := make(map[string]storedb.State, len(said))
	for word, state := range said {
		all[fold(word)] = state
	}
	return all
}

// checkStates is an error for a meaning that no word can have.
func checkStates(said map[string]storedb.State) error {
	for _, word := range slices.Sorted(maps.Keys(said)) {
		if !slices.Contains(byWeight, said[word]) {
			return fault.Invalid("import_states", fmt.Sprintf("Invalid meaning %.40q of %.40q: use active, refunded, charged_back, revoked or %s", said[word], word, StateSkipped))
		}
	}
	return nil
}

// skippedRow is the error of a row that is left out because of its state.
type skippedRow struct{ word string }

// Error implements error.
func (s *skippedRow) Error() string { return "left out: " + s.word }

// readState is what a word means, by the options or by use. It is never guessed.
func (in reading) readState(cell string) (storedb.State, error) {
	word := fold(cell)
	state, known := in.states[word]
	if !known {
		state, known = usualStates[word]
	}
	if !known {
		return "", fmt.Errorf("nobody has said what %q means: active, refunded, charged_back, revoked, or %s for a sale that was not paid", cell, StateSkipped)
	}
	return state, nil
}

// StateWord is a word in a column that can be the state, and what it means, "" when nobody has said it.
type StateWord struct {
	Word  string
	State storedb.State
}

// Label is the word, or what is shown for an empty cell.
func (w StateWord) Label() string { return cmp.Or(w.Word, "(empty)") }

// maxStateWords is how many words a column of states has at most.
const maxStateWords = 30

// wordsIn are the words of all columns that can be states.
func (p *csvPlan) wordsIn(rows [][]string) map[string][]StateWord {
	words := map[string][]StateWord{}
	for i, name := range p.header {
		seen := map[string]bool{}
		var all []StateWord
		for _, row := range rows {
			word := fold(row[i])
			if !seen[word] && len(all) <= maxStateWords {
				seen[word] = true
				state, _ := p.reading.readState(row[i])
				all = append(all, StateWord{strings.TrimSpace(row[i]), state})
			}
		}
		if len(all) <= maxStateWords {
			words[name] = all
		}
	}
	return words
}

// facts are what a row says about its sale in columns of yes and no.
type facts struct{ refunded, disputed, disputeWon, revoked, disabled bool }

// state is the state that follows, the worst that is true.
func (f facts) state() storedb.State {
	switch {
	case f.revoked || f.disabled:
		return storedb.StateRevoked
	case f.disputed && !f.disputeWon:
		return storedb.StateChargedBack
	case f.refunded:
		return storedb.StateRefunded
	}
	return storedb.StateActive
}

// byWeight are the states of which the last one counts when a row has two.
var byWeight = []storedb.State{storedb.StateActive, storedb.StateRefunded, storedb.StateChargedBack, storedb.StateRevoked, StateSkipped}

// settle makes the state of a line what its columns say together.
func (l *purchaseLine) settle(word string) error {
	if said := l.facts.state(); slices.Index(byWeight, said) > slices.Index(byWeight, l.State) {
		l.State = said
	}
	if l.State == StateSkipped {
		return &skippedRow{word}
	}
	return nil
}

// takenBack are parts of the names of columns, folded, that say whether a sale was taken back.
var takenBack = []string{"refund", "dispute", "chargeback", "chargedback", "revoke", "disabled", "status"}

func ignoredState(format string, args ...any) error {
	return fault.Invalid("csv_states", fmt.Sprintf(format, args...))
}

// checkIgnored refuses to ignore a column that may say that codes are no longer good.
func (p *csvPlan) checkIgnored() error {
	for i, field := range p.fields {
		name := fold(p.header[i])
		if field == "" && !p.ignoreStates && slices.ContainsFunc(takenBack, func(part string) bool { return strings.Contains(name, part) }) {
			return ignoredState("The column %q is ignored, but it may say that a sale was refunded, disputed or ended; map it to state, refunded, disputed, dispute_won, revoked or license_enabled", p.header[i])
		}
	}
	return nil
}

// checkIgnoredCells does the same for a cell of an ignored column.
func (p *csvPlan) checkIgnoredCells(line int, cells []string) error {
	const longest = 24
	for i, field := range p.fields {
		if field != "" || p.ignoreStates || len(cells[i]) > longest || len(cells[i]) < len("revoked") {
			continue
		}
		switch usualStates[fold(cells[i])] {
		case storedb.StateRefunded, storedb.StateChargedBack, storedb.StateRevoked:
			return ignoredState("The column %q is ignored, but line %d has %q in it; map it to state", p.header[i], line, cells[i])
		}
	}
	return nil
}

// Skipped counts the rows of a word that were left out because such sales were not paid.
type Skipped struct {
	Word string `json:"word"`
	Found
}

// skip counts a row that is left out.
func (r *ImportReport) skip(word string, line int) {
	i := slices.IndexFunc(r.Skipped, func(s Skipped) bool { return fold(s.Word) == fold(word) })
	if i < 0 {
		i, r.Skipped = len(r.Skipped), append(r.Skipped, Skipped{Word: word})
	}
	r.Skipped[i].note(line)
}

// oneCode refuses a cell that has several purchase codes.
func oneCode(cell string) error {
	parts := strings.FieldsFunc(cell, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
	const shortest = 4
	if len(parts) < 2 || slices.ContainsFunc(parts, func(part string) bool { return len(strings.TrimSpace(part)) < shortest }) {
		return nil
	}
	return badf("the cell has %d purchase codes; write a row for each", len(parts))
}
