package transfer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// codesIn are the purchase codes of a cell: several if commas, semicolons or line breaks are between them.
func codesIn(cell string) []string {
	parts := strings.FieldsFunc(cell, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
	for i, part := range parts {
		parts[i] = rules.TrimInvisible(part)
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	const shortest = 4 // a code may have a comma in it
	if len(parts) < 2 || slices.ContainsFunc(parts, func(part string) bool { return len(part) < shortest }) {
		return []string{cell}
	}
	return parts
}

// stageSale stages the purchase of a row, or those of all its codes. The price of the row is divided among them.
func (imp *importer) stageSale(ctx context.Context, line int, l purchaseLine) error {
	codes := codesIn(l.PurchaseCode)
	if len(codes) > 1 && !imp.csv.split {
		return badf("the cell has %d purchase codes; write a row for each, or have the row split", len(codes))
	}
	if slices.ContainsFunc(codes, isPlaceholder) {
		return badf("%q is not a purchase code", l.PurchaseCode)
	}
	if slices.ContainsFunc(codes, isFormula) {
		return badf("%q is a formula of a spreadsheet, not a purchase code; write the code itself", l.PurchaseCode)
	}
	if len(codes) > storedb.LineParts {
		return badf("the cell has %d purchase codes; a row has %d at most", len(codes), storedb.LineParts)
	}
	seen := map[string]bool{}
	codes = slices.DeleteFunc(codes, func(code string) bool {
		twice := seen[rules.FoldCode(code)]
		seen[rules.FoldCode(code)] = true
		return twice
	})
	sales, err := imp.divide(ctx, l, codes)
	if err != nil {
		return err
	}
	all := make([]storedb.Purchase, len(sales))
	for i, sale := range sales {
		if err := imp.leavePriceOut(ctx, line, &sale); err != nil {
			return err
		}
		if all[i], err = imp.checkPurchase(ctx, sale); err != nil {
			return err
		}
	}
	for part, p := range all {
		if err := imp.addPurchase(ctx, line, part, l, p); err != nil {
			return err
		}
	}
	imp.split += len(all) - 1
	return nil
}

// leavePriceOut has a sale of which only the total of its order is known without a price, or with that of the store.
func (imp *importer) leavePriceOut(ctx context.Context, line int, l *purchaseLine) error {
	if !l.sold.noPrice {
		return nil
	}
	p, err := imp.stored(ctx, l.PurchaseCode)
	if err != nil && !errors.Is(err, sqldb.ErrNotFound) {
		return err
	}
	if l.Price.Money = 0; err == nil && p.Currency == l.Currency {
		l.Price.Money = p.Price
	} else {
		imp.report.NoPrice.note(line)
	}
	return nil
}

// placeholders stand for a missing code. Those with # are what a spreadsheet makes of a code that begins with = or -.
var placeholders = []string{
	"n/a", "na", "-", "–", "none", "null", "nil", "0", "pending", "unknown",
	"#name?", "#ref!", "#value!", "#n/a", "#null!", "#num!", "#div/0!", "#error!",
}

func isPlaceholder(code string) bool { return slices.Contains(placeholders, strings.ToLower(code)) }
