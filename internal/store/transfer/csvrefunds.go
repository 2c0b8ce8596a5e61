package transfer

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// refund is what rows of a file say about the sale of another row: that it was paid back, in part or whole.
type refund struct {
	sum      countersign.Money // in the currency of the sale
	currency string
	charged  bool // back, by the buyer's bank
	inFile   bool // the sale is
	staged   bool
}

// findRefunds reads which sales are taken back by other rows, and which of them are in the file.
func (imp *importer) findRefunds(ctx context.Context, file io.ReadSeeker) error {
	p := imp.csv
	p.refunds = map[string]*refund{}
	err := imp.eachRow(ctx, file, func(cells []string) bool {
		if l, ok := p.stateOf(cells); ok && l.sold.isTakenBack() {
			p.addRefund(l)
		}
		return true
	})
	if err != nil || len(p.refunds) == 0 {
		return err
	}
	return imp.eachRow(ctx, file, func(cells []string) bool {
		if l, ok := p.stateOf(cells); ok && !l.sold.isTakenBack() {
			for _, code := range codesIn(l.PurchaseCode) {
				if r := p.refunds[rules.FoldCode(code)]; r != nil {
					r.inFile = true
				}
			}
		}
		return true
	})
}

// stateOf reads the code, the amount and the state of a row.
func (p *csvPlan) stateOf(cells []string) (l purchaseLine, ok bool) {
	var list []*field[purchaseLine]
	for i, name := range p.fields {
		list = append(list, nil)
		switch name {
		case "purchase_code", "price", "unit_price", "currency", stateField, refundOfField:
			f, _ := namedField(purchaseFields, name)
			list[i] = &f
		}
	}
	err := fill(&l, list, func(*purchaseLine) error { return nil }, cells, p.reading)
	return l, err == nil
}

func (p *csvPlan) addRefund(l purchaseLine) {
	code := rules.FoldCode(l.sold.refundOf)
	r := p.refunds[code]
	if r == nil {
		r = &refund{currency: l.Currency}
		p.refunds[code] = r
	}
	r.charged = r.charged || l.sold.state == storedb.StateChargedBack
	if l.Currency == r.currency {
		r.sum += max(l.Price.Money, -l.Price.Money)
	}
}

// takeBack adds to a sale what other rows say about it.
func (p *csvPlan) takeBack(l *purchaseLine) {
	for _, code := range codesIn(l.PurchaseCode) {
		if r := p.refunds[rules.FoldCode(code)]; r != nil {
			l.sold.disputed = l.sold.disputed || r.charged
			l.sold.refund += r.sum
		}
	}
}

// stageRefund stages what a row says about a sale that only the store has. A row about a sale of the
// file is left out, because the sale has taken it in.
func (imp *importer) stageRefund(ctx context.Context, line int, l purchaseLine) error {
	r := imp.csv.refunds[rules.FoldCode(l.sold.refundOf)]
	if r == nil || r.inFile || r.staged {
		return &skippedRow{l.sold.word + " of another row"}
	}
	p, err := imp.stored(ctx, l.sold.refundOf)
	if errors.Is(err, sqldb.ErrNotFound) {
		return badf("neither the file nor the store has the sale %q, which this row takes back", l.sold.refundOf)
	}
	if err != nil {
		return err
	}
	sold := soldRow{refund: r.sum, disputed: r.charged}
	state := sold.settle(p.Price)
	if !heavier(state, p.State) {
		return &skippedRow{l.sold.word + " of a part"}
	}
	r.staged = true
	p.State, p.StateAt = state, countersign.Timestamp{}
	if !l.Date.IsZero() {
		p.StateAt = l.Date
	}
	return imp.addPurchase(ctx, line, 0, l.Workspace, p)
}

// checkRefund is an error for a row that takes money back and does not say of which sale.
func checkRefund(l purchaseLine) error {
	if l.Price.Money < 0 {
		return badf("the row takes %s back and does not say of which sale; mark that purchase yourself", cmp.Or(l.Currency+" ", "")+(-l.Price.Money).String())
	}
	return nil
}
