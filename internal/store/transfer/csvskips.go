package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/go-json-experiment/json"
)

// Skipped counts the rows that were left out for one reason, like a word of the column of states.
type Skipped struct {
	Word string `json:"word"`
	Found
}

// skippedRow is the error of a row that is left out.
type skippedRow struct {
	word     string
	harmless bool // says nothing about the code
}

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
	codes := codesIn(l.PurchaseCode)
	if len(codes) > storedb.LineParts {
		return badf("the cell has %d purchase codes; a row has %d at most", len(codes), storedb.LineParts)
	}
	for _, code := range codes {
		p, err := imp.stored(ctx, code)
		if err == nil && p.State == storedb.StateActive && !l.sold.renewal {
			return badf("the sale is %q, but the store has its code as good; revoke that purchase", word)
		}
		if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
			return err
		}
	}
	return &skippedRow{word, l.sold.renewal}
}

// shadow notes the codes of a row that is left out or rejected: no other row may make them good.
func (imp *importer) shadow(ctx context.Context, line int, cells []string, err error) error {
	var bad *badLine
	skipped, isSkipped := errors.AsType[*skippedRow](err)
	if imp.csv.sale == nil || cells == nil || !isSkipped && !errors.As(err, &bad) || isSkipped && skipped.harmless {
		return nil
	}
	if l, _ := imp.csv.sale(cells); l.sold.refundOf == "" {
		return imp.shadowCodes(ctx, line, codesIn(l.PurchaseCode))
	}
	return nil
}

// shadowLine is shadow for a line of JSON.
func (imp *importer) shadowLine(ctx context.Context, line int, text []byte, err error) error {
	var bad *badLine
	var l struct {
		PurchaseCode string `json:"purchase_code"`
	}
	if !errors.As(err, &bad) || json.Unmarshal(text, &l) != nil {
		return nil
	}
	return imp.shadowCodes(ctx, line, []string{l.PurchaseCode})
}

func (imp *importer) shadowCodes(ctx context.Context, line int, codes []string) error {
	if codes[0] == "" || len(codes) > storedb.LineParts {
		return nil
	}
	for part, code := range codes {
		if err := imp.stage.AddLeftOut(ctx, line, part, rules.CodeDigest(imp.service.gate.Box(), code)); err != nil {
			return err
		}
	}
	return nil
}

// dropShadowed takes purchases out of the stage whose code a row has, too, that was left out or rejected.
func (imp *importer) dropShadowed(ctx context.Context, tx *storedb.DB) error {
	found, err := tx.StageShadowed(ctx)
	if err != nil {
		return err
	}
	for _, c := range found {
		reason := fmt.Sprintf("line %d has this purchase code, too, and was left out or rejected; keep the line that is right", c.First)
		if err := imp.unstage(ctx, tx, storedb.StagedPurchases, c.Line, reason); err != nil {
			return err
		}
	}
	return nil
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
