package transfer

import (
	"context"
	"math"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// divide makes the sale of a row one of each of its codes: with a share of the price, and with the state by all
// that was paid back of the row, of its order, and by other rows of each code.
func (imp *importer) divide(ctx context.Context, l purchaseLine, codes []string) ([]purchaseLine, error) {
	all := make([]purchaseLine, len(codes))
	for i, code := range codes {
		all[i] = l
		all[i].PurchaseCode, all[i].sold.refund = code, 0
		if !l.sold.each {
			all[i].Price.Money = share(l.Price.Money, i, len(codes))
		}
		own := all[i].sold.settle(all[i].Price.Money)
		if err := imp.takeBack(ctx, &all[i]); err != nil {
			return nil, err
		}
		all[i].State = all[i].sold.settle(all[i].Price.Money)
		if own == storedb.StateActive && all[i].State != own && l.sold.refund == 0 && !l.sold.noPrice {
			imp.csv.refunds[rules.FoldCode(code)].ends = true
		}
	}
	if err := settleRow(l, all); err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].State == storedb.StateActive {
			all[i].StateAt = nil
		}
	}
	return all, nil
}

// settleRow takes the sales of a row back whose money was paid back without naming one of them. It is an error
// when that may be all of one sale, and nothing says of which.
func settleRow(l purchaseLine, all []purchaseLine) error {
	back := max(l.sold.refund, -l.sold.refund)
	var paid, open countersign.Money          // for all of them; and what was not paid back of those that are good
	least := countersign.Money(math.MaxInt64) // of one of them
	state := storedb.StateRefunded
	for _, sale := range all {
		rest := sale.Price.Money - sale.sold.refund
		paid += sale.Price.Money
		if l.sold.noPrice {
			back += sale.sold.refund // the price is not that of the row
		}
		if sale.State == storedb.StateChargedBack {
			state = sale.State
		}
		if sale.State != storedb.StateActive {
			back += max(0, -rest)
			continue
		}
		open, least = open+rest, min(least, rest)
	}
	several := len(all) > 1
	if l.sold.inOrder {
		open, least, several = l.sold.orderPaid-paid+open, 1, true
	}
	switch {
	case !slices.ContainsFunc(all, func(sale purchaseLine) bool { return sale.State == storedb.StateActive }):
	case back > 0 && back >= open:
		for i := range all {
			if all[i].State == storedb.StateActive {
				all[i].State = state
			}
		}
	case several && (back > 0 && back >= least || back == 0 && l.sold.part):
		return ambiguousRefund(l)
	}
	return nil
}

func ambiguousRefund(l purchaseLine) error {
	if l.sold.inOrder {
		return badf("a part of the order was paid back, and the order has several rows; write the price of each row, and what was paid back of it")
	}
	return badf("a part was paid back, and the row does not say of which purchase code; write a row for each code, with what was paid back of it")
}

// share is what one of several gets of an amount. All together are the amount.
func share(all countersign.Money, i, of int) countersign.Money {
	n, rest := all/countersign.Money(of), all%countersign.Money(of)
	if countersign.Money(i) < rest {
		n++
	}
	return n
}
