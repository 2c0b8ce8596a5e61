package membership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/numbers"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// ordersWait is how often orders are read, and how long after a change at the earliest. A transaction with an order does not put the task:
	// all of them would change its one row, and wait for each other's commit.
	ordersWait = time.Minute
	// unreadWait is how long an order waits that can't be read.
	unreadWait = time.Hour
	// ordersAtOnce is how many orders one call asks for.
	ordersAtOnce = 100
	// maxOrderTries is how often an order is asked for that the store does not return.
	maxOrderTries = 10
)

// count notes what a change of a purchase adds to the numbers, which the transaction writes
// at its end, and the orders that have to be read.
func (s *Service) count(ctx context.Context, tx *txn, c numbers.Change, items []addondb.PurchaseItem) error {
	tx.counts = append(tx.counts, numbers.Of(c, numbers.Day(s.now()))...)
	if c.After.Environment != string(entitle.Production) {
		return nil
	}
	for _, i := range items {
		if i.OrderID == "" {
			continue
		}
		if err := tx.AddOrder(ctx, i.OrderID, c.After.ID, at(s.now().Add(ordersWait))); err != nil {
			return fmt.Errorf("membership: note an order: %w", err)
		}
	}
	return nil
}

// stateOf is a purchase as it is counted.
func stateOf(p addondb.Purchase, items []addondb.PurchaseItem) numbers.State {
	state := numbers.State{Purchase: p}
	if main := mainItem(items); main != nil {
		state.Item = *main
	}
	return state
}

// countChange counts a change of a purchase that takes the place of others.
func (s *Service) countChange(ctx context.Context, tx *txn, before, after numbers.State, items []addondb.PurchaseItem, retired []addondb.Purchase) error {
	c := numbers.Change{Before: before, After: after}
	for _, p := range retired {
		theirs, err := tx.PurchaseItems(ctx, p.ID)
		if err != nil {
			return err
		}
		c.Retired = append(c.Retired, stateOf(p, theirs))
	}
	if err := s.count(ctx, tx, c, items); err != nil || after.Item.Quantity >= before.Item.Quantity {
		return err
	}
	return s.recount(ctx, tx, after.Purchase) // some of a quantity was refunded
}

// countEnd counts a purchase that ended while its items stayed as they were.
func (s *Service) countEnd(ctx context.Context, tx *txn, before, after addondb.Purchase) error {
	items, err := tx.PurchaseItems(ctx, after.ID)
	if err != nil {
		return err
	}
	return s.count(ctx, tx, numbers.Change{Before: stateOf(before, items), After: stateOf(after, items)}, nil)
}

// recount has the orders of a purchase read again, of which one was refunded.
func (s *Service) recount(ctx context.Context, tx *txn, p addondb.Purchase) error {
	if p.Environment != string(entitle.Production) {
		return nil
	}
	return tx.RereadOrders(ctx, p.ID, at(s.now().Add(ordersWait)))
}

// writeCounts adds to the sums. It is called once in a transaction.
func writeCounts(ctx context.Context, tx *addondb.DB, counts []addondb.Number) error {
	if err := tx.AddNumbers(ctx, numbers.Sum(counts)); err != nil {
		return fmt.Errorf("membership: count: %w", err)
	}
	return nil
}

// doOrders reads what was paid for orders that are due.
func (s *Service) doOrders(ctx context.Context, _ []byte) (again time.Time, err error) {
	next := s.now().Add(ordersWait)
	due, err := s.db.DueOrders(ctx, s.timestamp(), ordersAtOnce)
	if err != nil || len(due) == 0 {
		return next, err
	}
	slices.SortStableFunc(due, func(a, b addondb.Order) int { return cmp.Compare(a.Application, b.Application) })
	for len(due) > 0 {
		n := slices.IndexFunc(due, func(o addondb.Order) bool { return o.Application != due[0].Application })
		if n < 0 {
			n = len(due)
		}
		if err := s.readOrdersOf(ctx, due[0].Application, due[:n]); err != nil {
			return time.Time{}, err
		}
		due = due[n:]
	}
	return next, nil
}

// readOrdersOf reads what was paid for orders of an application. When they can't be read, they are due later.
func (s *Service) readOrdersOf(ctx context.Context, application string, due []addondb.Order) error {
	store, selling, err := s.openOrigin(ctx, origin{Application: application})
	if err != nil && !fault.HasCode(err, codeNotConfigured) {
		return err
	}
	var found []play.Order
	if err == nil {
		found, err = readOrders(ctx, store, sqldb.Convert(due, func(o addondb.Order) string { return o.ID }))
		if note := s.noteCall(ctx, callOrders, selling, err); note != nil { // the connection test says what is missing
			return note
		}
	}
	if err != nil {
		return s.db.PostponeOrders(ctx, application, s.timestamp(), at(s.now().Add(unreadWait)))
	}
	for _, o := range due {
		i := slices.IndexFunc(found, func(f play.Order) bool { return f.ID == o.ID })
		var paid *play.Order
		if i >= 0 {
			paid = &found[i]
		}
		if err := s.applyOrder(ctx, o, paid); err != nil {
			return err
		}
	}
	return nil
}

// readOrders asks for orders at once, and one by one when the store refuses that: one unknown
// order fails the whole call (1.10).
func readOrders(ctx context.Context, store Store, ids []string) (found []play.Order, err error) {
	found, err = store.Orders(ctx, ids)
	if reason, _ := reasonOf(err); reason != play.Refused {
		return found, err
	}
	for _, id := range ids {
		one, err := store.Orders(ctx, []string{id})
		switch reason, _ := reasonOf(err); reason {
		case "", play.Refused:
			found = append(found, one...)
		default:
			return found, err
		}
	}
	return found, nil
}

// applyOrder writes what was paid for an order, nil for one that the store did not return,
// and adds it to the sums. An order that has to be read again since it was listed is left alone.
func (s *Service) applyOrder(ctx context.Context, listed addondb.Order, paid *play.Order) error {
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		before, err := tx.LockOrder(ctx, listed.ID)
		if err != nil {
			return ignoreNotFound(err)
		}
		if !before.ReadAt.IsZero() || !before.DueAt.Equal(listed.DueAt.Time) {
			return nil
		}
		after := before
		if paid == nil || paid.State == "pending" {
			after.DueAt = at(s.now().Add(unreadWait))
			if after.Tries++; after.Tries >= maxOrderTries {
				after.ReadAt = s.timestamp()
			}
			return tx.UpdateOrder(ctx, after)
		}
		after.ReadAt, after.Tries = s.timestamp(), 0
		if paid.State == "pending_refund" { // its end is still to come
			after.ReadAt, after.DueAt = sqldb.Time{}, at(s.now().Add(unreadWait))
		}
		fillOrder(&after, *paid, numbers.Day(s.now()))
		return errors.Join(tx.UpdateOrder(ctx, after), writeCounts(ctx, tx, numbers.OfOrder(before, after)))
	})
}

// fillOrder takes what was paid and given back from an answer of the store.
func fillOrder(o *addondb.Order, paid play.Order, today string) {
	if paid.Total == nil || paid.State == "canceled" {
		return
	}
	o.Day, o.Currency, o.Amount = numbers.Day(paid.CreatedAt), paid.Total.Currency, hundredths(*paid.Total)
	refunded := int64(0)
	switch {
	case paid.Refunded != nil:
		refunded = hundredths(*paid.Refunded)
	case paid.State == "refunded":
		refunded = o.Amount
	}
	if refunded > 0 && o.RefundDay == "" {
		o.RefundDay = today
		if !paid.RefundedAt.IsZero() {
			o.RefundDay = numbers.Day(paid.RefundedAt)
		}
	}
	o.Refunded = refunded
}

// hundredths rounds an amount to hundredths.
func hundredths(m play.Money) int64 {
	const nanos = 10_000_000
	half := int64(nanos / 2)
	if m.Nanos < 0 {
		half = -half
	}
	return m.Units*100 + (int64(m.Nanos)+half)/nanos
}
