package transfer

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// maxOrders is how many orders the export of a shop may have whose orders can have several rows.
const maxOrders = 500_000

// order is what the rows of a file say about one order. An amount that all of them have is that of the order.
type order struct {
	rows                int
	prices              countersign.Money // of all rows together
	price, refund       countersign.Money // of the first row
	ownPrice, ownRefund bool              // of each row: they differ
}

// orders are those of a file, by a hash of what tells them apart.
type orders struct {
	seed maphash.Seed
	all  map[uint64]order
}

// findOrders reads which rows are of one order.
func (imp *importer) findOrders(ctx context.Context, file io.ReadSeeker) error {
	p, most := imp.csv, cmp.Or(imp.options.mostAhead, maxOrders)
	all := orders{maphash.MakeSeed(), map[uint64]order{}}
	err := imp.eachRow(ctx, file, func(_ int, cells []string, unreadable error) bool {
		if l, _ := p.sale(cells); unreadable == nil { // what can't be read is rejected later
			all.note(cells[p.order-1], l)
		}
		return len(all.all) <= most
	})
	if len(all.all) > most {
		return fault.Invalid("csv_orders", fmt.Sprintf("The file has more than %d orders; split it between two orders", most))
	}
	p.orders = all
	return err
}

// note adds a row to its order.
func (o orders) note(name string, l purchaseLine) {
	price := l.Price.Money
	if l.sold.each {
		price *= countersign.Money(len(codesIn(l.PurchaseCode)))
	}
	if name == "" {
		return
	}
	key := maphash.String(o.seed, name)
	of, later := o.all[key]
	if !later {
		of.price, of.refund = l.Price.Money, l.sold.refund
	}
	of.rows++
	of.prices += price
	of.ownPrice = of.ownPrice || l.Price.Money != of.price
	of.ownRefund = of.ownRefund || l.sold.refund != of.refund
	o.all[key] = of
}

// readOrder adds to a sale what it shares with the other rows of its order: the amount that was paid for all of
// them, when its price or its refund is that of the order.
func (p *csvPlan) readOrder(l *purchaseLine, cells []string) {
	if p.order == 0 || p.orders.all == nil || cells[p.order-1] == "" {
		return
	}
	of := p.orders.all[maphash.String(p.orders.seed, cells[p.order-1])]
	if of.rows < 2 {
		return
	}
	switch l.sold.noPrice = p.sums && !of.ownPrice; {
	case l.sold.noPrice:
		l.sold.inOrder, l.sold.orderPaid = true, of.price
	case !of.ownRefund:
		l.sold.inOrder, l.sold.orderPaid = true, of.prices
	}
}
