package transfer

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Skipped counts the rows that were left out for one reason, like a word of the column of states.
type Skipped struct {
	Word string `json:"word"`
	Found
}

// skippedRow is the error of a row that is left out.
type skippedRow struct{ word string }

// Error implements error.
func (s *skippedRow) Error() string { return "left out: " + s.word }

// skip counts a row that is left out.
func (r *ImportReport) skip(word string, line int) {
	i := slices.IndexFunc(r.Skipped, func(s Skipped) bool { return fold(s.Word) == fold(word) })
	if i < 0 {
		i, r.Skipped = len(r.Skipped), append(r.Skipped, Skipped{Word: word})
	}
	r.Skipped[i].note(line)
}

// leaveOut is the error of a row of a sale that was not paid. Its code may not be good in the store.
func (imp *importer) leaveOut(ctx context.Context, l purchaseLine, word string) error {
	for _, code := range codesIn(l.PurchaseCode) {
		p, err := imp.stored(ctx, code)
		if err == nil && p.State == storedb.StateActive && !l.sold.renewal {
			return badf("the sale is %q, but the store has its code as good; revoke that purchase", word)
		}
		if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
			return err
		}
	}
	return &skippedRow{word}
}

// stored is the purchase of a code in the workspace of the rows.
func (imp *importer) stored(ctx context.Context, code string) (storedb.Purchase, error) {
	p, err := imp.session.PurchaseByDigest(ctx, rules.CodeDigest(imp.service.gate.Box(), code))
	if err == nil && (p.WorkspaceID != imp.csv.workspace.ID || rules.FoldCode(p.Code) != rules.FoldCode(code)) {
		err = sqldb.ErrNotFound
	}
	return p, err
}

// isTotal reports whether a row has the sums of the others.
func (p *csvPlan) isTotal(cells []string) bool {
	if !slices.Contains([]string{"total", "totals", "grandtotal"}, fold(cells[0])) {
		return false
	}
	for i, field := range p.fields {
		if i > 0 && cells[i] != "" && (field == "purchase_code" || field == "item_id" || field == "date") {
			return false
		}
	}
	return true
}
