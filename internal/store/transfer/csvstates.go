package transfer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/storedb"
)

// StateSkipped is what a word of a column of states means when the sale was never paid, or not yet:
// its row is left out.
const StateSkipped storedb.State = "skip"

// byWeight are the states. Of several that a row has, the last one counts.
var byWeight = []storedb.State{storedb.StateActive, storedb.StateRefunded, storedb.StateChargedBack, storedb.StateRevoked, StateSkipped}

// partWords are the words, folded, for a sale of which a part was paid back.
var partWords = []string{"partiallyrefunded", "partiallyrefund", "partialrefund", "partialrefunded"}

// usualStates are the words that shops have for the state of a sale, folded. A sale of which a part
// was refunded stays good.
var usualStates = words(map[storedb.State]string{
	storedb.StateActive:      "active completed complete paid publish published delivered succeeded success sold valid enabled 1 " + strings.Join(partWords, " "),
	storedb.StateRefunded:    "refunded refund fullyrefunded",
	storedb.StateChargedBack: "chargedback chargeback disputed dispute reversed reversal",
	storedb.StateRevoked:     "revoked disabled inactive suspended blocked banned deactivated 0",
	StateSkipped:             "failed pending cancelled canceled onhold draft unpaid void voided declined denied abandoned trash checkoutdraft pendingpayment awaitingpayment authorized",
})

func words(lists map[storedb.State]string) map[string]storedb.State {
	all := map[string]storedb.State{}
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

// readState is what a word means: as somebody has said, as its shop uses it, or as it is usual. It is never guessed.
func (in reading) readState(cell string) (storedb.State, error) {
	word := fold(cell)
	for _, known := range []map[string]storedb.State{in.states, in.shop, usualStates} {
		if state, ok := known[word]; ok {
			return state, nil
		}
	}
	if in.report != nil {
		ask(&in.report.UnknownStates, cell)
	}
	return "", fmt.Errorf("nobody has said what %q means: active, refunded, charged_back, revoked, or %s for a sale that was not paid", cell, StateSkipped)
}

// soldRow is what a row of CSV says about a sale besides what a purchase has.
type soldRow struct {
	hasState, noState                bool   // a column of states has a word, or is empty
	priced                           bool   // the price is not empty
	notPaid                          bool   // paid says no
	refundMark                       string // the currency beside refund
	item, variant                    string
	state                            storedb.State // the heaviest of its columns, "" before the first
	word                             string        // of that state
	refunded, disputed, disputeWon   bool
	revoked, disabled                bool
	unpaid, cancelled, renewal, test bool
	refund                           countersign.Money // what was paid back
	refundOf, refundID               string            // the code of the sale that the row takes back, and what tells the refund apart
	each                             bool              // the price is that of each code of the row
	part                             bool              // a part was paid back, by the word of its state
	inOrder, noPrice                 bool              // the refund is that of an order of several rows, or the price is
	orderPaid                        countersign.Money // for all of the order
}

// readState reads one of the columns that are the state.
func (s *soldRow) readState(cell string, in reading) error {
	if _, said := in.states[fold(cell)]; said || cell != "" {
		s.hasState = true
	} else {
		s.noState = true
		return nil
	}
	s.part = s.part || slices.Contains(partWords, fold(cell)) && in.states[fold(cell)] == ""
	state, err := in.readState(cell)
	if err == nil && (s.state == "" || heavier(state, s.state)) {
		s.state, s.word = state, cell
	}
	return err
}

func heavier(a, b storedb.State) bool { return slices.Index(byWeight, a) > slices.Index(byWeight, b) }

// isRefund reports whether the row takes another row's sale back, in part or whole. Of a shop, a row
// that names another one may also be a sale.
func (s *soldRow) isRefund(price countersign.Money, shop bool) bool {
	return s.refundOf != "" && (!shop || s.isTakenBack() || price < 0)
}

// isTakenBack reports whether the row speaks of money that was paid back.
func (s *soldRow) isTakenBack() bool {
	return s.state == storedb.StateRefunded || s.state == storedb.StateChargedBack || s.refunded || s.disputed || s.refund != 0
}

// leftOut is why the row does not become a purchase, "" for one that does.
func (s *soldRow) leftOut() string {
	switch {
	case s.test:
		return "test"
	case s.renewal:
		return "renewal"
	case s.unpaid, s.notPaid:
		return "not paid"
	case s.state == StateSkipped:
		return cmp.Or(s.word, "not paid")
	case s.cancelled && !heavier(s.state, storedb.StateActive):
		return "cancelled"
	}
	return ""
}

// settle is the state of a sale of a price by all that its row says.
func (s *soldRow) settle(price countersign.Money) storedb.State {
	said := storedb.StateActive
	switch {
	case s.revoked || s.disabled:
		said = storedb.StateRevoked
	case s.disputed && !s.disputeWon:
		said = storedb.StateChargedBack
	case s.refunded || price > 0 && max(s.refund, -s.refund) >= price:
		said = storedb.StateRefunded
	}
	if heavier(s.state, said) {
		return s.state
	}
	return said
}

// takenBack are parts of the names of columns, folded, that say whether a sale was taken back.
var takenBack = []string{"refund", "dispute", "chargeback", "chargedback", "revoke", "disabled", "status", "paymentstate", "orderstate", "salestate", "cancel", "voided"}

// badBegin is how words begin, folded, that say so in a cell.
var badBegin = []string{"refund", "chargeback", "chargedback", "disput", "cancel", "void", "fail", "revok", "banned", "unpaid"}

// saysTakenBack reports whether a cell, or a part of it, is a word for a sale that was taken back or never paid.
func saysTakenBack(cell string) bool {
	const shortest, longest = 4, 24
	if len(cell) < shortest || len(cell) > longest {
		return false
	}
	return slices.ContainsFunc(strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(",;/|+&\n", r) }), func(part string) bool {
		word := fold(part)
		state, usual := usualStates[word]
		return len(word) >= shortest && (usual && heavier(state, storedb.StateActive) || slices.ContainsFunc(badBegin, func(begin string) bool { return strings.HasPrefix(word, begin) }))
	})
}

func ignoredState(format string, args ...any) error {
	return fault.Invalid("csv_states", fmt.Sprintf(format, args...))
}

// checkIgnored refuses to ignore a column that may say that codes are no longer good.
func (p *csvPlan) checkIgnored() error {
	for i, field := range p.fields {
		name := fold(p.header[i])
		if field == "" && !p.ignoreStates && !p.shop.ignores(name) && slices.ContainsFunc(takenBack, func(part string) bool { return strings.Contains(name, part) }) {
			return ignoredState("The column %q is ignored, but it may say that a sale was refunded, disputed or ended; map it to state, refunded, disputed, dispute_won, revoked or license_enabled", p.header[i])
		}
	}
	return nil
}

// watchIgnored notes the ignored columns whose cells are looked at.
func (p *csvPlan) watchIgnored() {
	for i, field := range p.fields {
		if field == "" && !p.ignoreStates && !p.shop.ignores(fold(p.header[i])) {
			p.watched = append(p.watched, i)
		}
	}
}

// checkIgnoredCells refuses to ignore a cell that says that the code is no longer good.
func (p *csvPlan) checkIgnoredCells(line int, cells []string) error {
	for _, i := range p.watched {
		if saysTakenBack(cells[i]) {
			return ignoredState("The column %q is ignored, but line %d has %q in it; map it to state", p.header[i], line, cells[i])
		}
	}
	return nil
}
