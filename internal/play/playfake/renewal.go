package playfake

import (
	"fmt"
	"slices"
	"time"
)

// planOf returns the plan of the first item.
func (s *Store) planOf(p *purchase) *Plan {
	plan, err := s.plan(p.Items[0].ProductID, p.Items[0].PlanID)
	if err != nil {
		// A plan that left the catalogue goes on for those who have it.
		return &Plan{Kind: AutoRenewing, Period: "P1M"}
	}
	return plan
}

// renew charges for the next period, which begins at a time.
func (s *Store) renew(p *purchase, from time.Time, note int) {
	p.Items = slices.DeleteFunc(p.Items, func(i item) bool { return i.DeferredRemoval || i.Deferred != "" })
	for i := range p.Items {
		if p.Items[i].OrderID != "" {
			s.nextPhase(&p.Items[i])
		}
	}
	p.State, p.PaidUntil = stateActive, s.periodAfter(p, from)
	p.RetryUntil, p.GraceUntil, p.HoldUntil, p.ResumeAt, p.Pause = time.Time{}, time.Time{}, time.Time{}, time.Time{}, 0
	p.CanceledBy, p.CanceledAt = "", time.Time{}
	p.Renewals++
	paid := s.order(p.PendingOrder)
	if paid == nil {
		paid = s.addOrder(p, "PROCESSED", from, p.PaidUntil)
	} else {
		paid.State = "PROCESSED"
		s.fill(paid, p, from, p.PaidUntil)
	}
	p.PendingOrder = ""
	for i := range p.Items {
		p.Items[i].OrderID, p.Items[i].ExpiresAt = paid.ID, p.PaidUntil
	}
	s.notify(p, note)
}

// nextPhase moves an item to what its next payment is for.
func (s *Store) nextPhase(i *item) {
	i.Proration = false
	if phase := s.phaseOf(i); phase != nil {
		if i.Cycle++; i.Cycle >= max(phase.Cycles, 1) {
			i.Phase, i.Cycle = i.Phase+1, 0
		}
	}
	if i.Change != nil && i.Change.Waits > 0 {
		i.Change.Waits--
	} else if i.Change != nil && i.Change.State == "CONFIRMED" {
		i.Price, i.Change.State = i.Change.Price, "APPLIED"
	} else if i.Change != nil {
		i.Change = nil
	}
	if i.Left > 0 {
		i.Left--
	}
}

// phaseOf returns the phase of the offer in which an item is, nil for the base price.
func (s *Store) phaseOf(i *item) *Phase {
	plan, err := s.plan(i.ProductID, i.PlanID)
	if err != nil {
		return nil
	}
	offer := plan.offer(i.OfferID)
	if offer == nil || i.Phase >= len(offer.Phases) {
		return nil
	}
	return &offer.Phases[i.Phase]
}

// periodAfter returns the end of the period of a purchase that begins at a time.
func (s *Store) periodAfter(p *purchase, from time.Time) time.Time {
	if p.once() {
		return from
	}
	if phase := s.phaseOf(&p.Items[0]); phase != nil {
		return phase.Period.after(from, p.Test)
	}
	return s.planOf(p).Period.after(from, p.Test)
}

// addOrder adds an order for the items of a purchase.
func (s *Store) addOrder(p *purchase, state string, from, to time.Time) *order {
	o := &order{Token: p.Token, State: state, CreatedAt: s.state.Now}
	if p.OrderBase == "" {
		p.OrderBase = fmt.Sprintf("GPA.%s-%s-%s-%s", s.digits(4), s.digits(4), s.digits(4), s.digits(5))
		o.ID = p.OrderBase
	} else {
		o.ID = fmt.Sprintf("%s..%d", p.OrderBase, s.ordersOf(p)-1)
	}
	s.fill(o, p, from, to)
	s.state.Orders = append(s.state.Orders, o)
	return o
}

// fill sets what an order is for.
func (s *Store) fill(o *order, p *purchase, from, to time.Time) {
	o.Lines, o.Total = nil, Money{}
	for i := range p.Items {
		line := &p.Items[i]
		price, phase := line.Price, "BASE"
		if now := s.phaseOf(line); now != nil {
			price, phase = now.Price, "INTRODUCTORY"
			if now.Kind == FreeTrial {
				price, phase = Money{Currency: line.Price.Currency}, "FREE_TRIAL"
			}
		}
		if line.OneTime {
			price = price.part(line.Quantity, 1)
		}
		o.Lines = append(o.Lines, orderLine{line.ProductID, line.PlanID, line.OfferID, phase, price, from, to, line.Quantity})
		o.Total.Currency = price.Currency
		o.Total.Units += price.Units
		o.Total.Nanos += price.Nanos
	}
	o.Total.Units, o.Total.Nanos = o.Total.Units+o.Total.Nanos/nanosPerUnit, o.Total.Nanos%nanosPerUnit
}

// ordersOf counts the orders of a purchase.
func (s *Store) ordersOf(p *purchase) (n int) {
	for _, o := range s.state.Orders {
		if o.Token == p.Token {
			n++
		}
	}
	return n
}

// dropPendingOrder ends the order whose payment was declined.
func (s *Store) dropPendingOrder(p *purchase) {
	if o := s.order(p.PendingOrder); o != nil {
		o.State = "CANCELED"
	}
	p.PendingOrder = ""
}

// voidOrder takes an order back and lists it. The notification of it has no reason.
func (s *Store) voidOrder(o *order, reason, source int64, chargeback bool) {
	if o == nil || o.State == "REFUNDED" {
		return
	}
	o.State, o.RefundedAt, o.Chargeback = "REFUNDED", s.state.Now, chargeback
	s.state.Voids = append(s.state.Voids, void{
		OrderID: o.ID, Token: o.Token, PurchasedAt: o.CreatedAt, VoidedAt: s.state.Now, Reason: reason, Source: source,
	})
	s.notifyVoided(o, refundOfAll)
}
