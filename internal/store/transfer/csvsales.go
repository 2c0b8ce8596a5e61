package transfer

import (
	"context"
	"errors"
	"slices"
)

// planPurchases makes rows purchases.
func (imp *importer) planPurchases(p *csvPlan) error {
	list, constants, err := columns(p, purchaseFields, purchaseRequired...)
	if err != nil {
		return err
	}
	if slices.Contains(p.fields, priceField) && slices.Contains(p.fields, unitPriceField) {
		return badColumns("One column is %s and another is %s; ignore one of them", priceField, unitPriceField)
	}
	p.findSums()
	if err := p.checkIgnored(); err != nil {
		return err
	}
	imp.keep = p.missing()
	p.watchIgnored()
	p.sale = func(cells []string) (purchaseLine, error) {
		l := purchaseLine{Type: "purchase", Workspace: p.workspace.Account.Username}
		err := fill(&l, list, constants, p.shopCells(cells), p.reading)
		p.readOrder(&l, cells)
		return l, err
	}
	p.stage = func(ctx context.Context, line int, cells []string) error {
		l, err := p.sale(cells)
		if err != nil {
			return imp.withItemFault(ctx, l, err)
		}
		if err := p.checkIgnoredCells(line, cells); err != nil {
			return err
		}
		return imp.stageSold(ctx, line, l)
	}
	return nil
}

// missing are the columns of purchases that the file does not have.
func (p *csvPlan) missing() map[string]bool {
	all := map[string]bool{}
	for _, f := range purchaseFields {
		if f.column != "" {
			all[f.column] = true
		}
	}
	for _, f := range purchaseFields {
		if _, set := p.set[f.name]; set || slices.Contains(p.fields, f.name) {
			delete(all, f.column)
		}
	}
	return all
}

// stageSold stages what a row says: a sale, that one was taken back, or nothing.
func (imp *importer) stageSold(ctx context.Context, line int, l purchaseLine) error {
	if l.sold.isRefund(l.Price.Money, imp.csv.shop != nil) { // also one that is pending
		return imp.stageRefund(ctx, line, l)
	}
	if word := l.sold.leftOut(); word != "" {
		return imp.leaveOut(ctx, l, word)
	}
	if l.sold.noState && !l.sold.hasState {
		ask(&imp.report.CSV.UnknownStates, "")
		return badf("the state is empty; say what that means, or write it")
	}
	if err := errors.Join(checkRefund(l), checkCurrency(l.mark, l.Currency), checkCurrency(l.sold.refundMark, l.Currency)); err != nil {
		return err
	}
	if err := imp.readItem(ctx, &l); err != nil {
		return err
	}
	return imp.stageSale(ctx, line, l)
}
