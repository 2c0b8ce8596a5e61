package playfake

import (
	"errors"
	"slices"
	"time"
)

// Renew renews a subscription now, without waiting for its date.
func (s *Store) Renew(token string) error {
	return s.act(token, func(p *purchase) error {
		if err := p.in(stateActive); err != nil || !p.renews() {
			return errors.Join(err, errors.New("the subscription does not renew"))
		}
		s.renew(p, p.PaidUntil, noteRenewed)
		return nil
	})
}

// DeclineCard makes the next payments of a subscription fail: a day of silent retries, the
// grace period and the account hold follow at their dates.
func (s *Store) DeclineCard(token string) error {
	return s.act(token, func(p *purchase) error {
		if !p.renews() {
			return errors.New("the subscription does not renew")
		}
		p.Declined = true
		return nil
	})
}

// Recover makes payments succeed again, and pays what is due. Out of account hold the renewal
// date moves to now; out of the grace period it stays.
func (s *Store) Recover(token string) error {
	return s.act(token, func(p *purchase) error {
		if !p.renews() || !p.Declined {
			return errors.New("no payment of the subscription is declined")
		}
		p.Declined = false
		switch {
		case p.State == stateHold:
			s.renew(p, s.state.Now, noteRecovered)
		case p.State == stateGrace || !p.RetryUntil.IsZero():
			s.renew(p, p.PaidUntil, noteRenewed)
		}
		return nil
	})
}

// Pause schedules a pause that begins with the next period.
func (s *Store) Pause(token string, length time.Duration) error {
	return s.act(token, func(p *purchase) error {
		if err := p.in(stateActive); err != nil {
			return err
		}
		if !p.renews() || length <= 0 {
			return errors.New("the subscription can't be paused")
		}
		p.Pause = length
		s.notify(p, notePauseChanged)
		return nil
	})
}

// Resume ends a pause, or its schedule.
func (s *Store) Resume(token string) error {
	return s.act(token, func(p *purchase) error {
		switch {
		case p.State == statePaused:
			s.resume(p)
		case p.Pause > 0:
			p.Pause = 0
			s.notify(p, notePauseChanged)
		default:
			return errors.New("the subscription is not paused")
		}
		return nil
	})
}

// Cancel stops the renewals, as the user does. Instalments end with the committed payments.
func (s *Store) Cancel(token string) error {
	return s.act(token, func(p *purchase) error { return s.cancel(p, "user", false) })
}

// cancel stops the renewals, or with final also the committed payments.
func (s *Store) cancel(p *purchase, by string, final bool) error {
	if !p.renews() {
		return errors.New("the subscription does not renew")
	}
	if first := &p.Items[0]; first.Left > 0 && !final {
		first.Ending = true
		s.notify(p, noteCancelScheduled)
		return nil
	}
	p.CanceledBy, p.CanceledAt, p.Pause = by, s.state.Now, 0
	if p.State != stateActive || !p.RetryUntil.IsZero() {
		s.cancelAndExpire(p, by)
		return nil
	}
	p.State = stateCanceled
	s.notify(p, noteCanceled)
	return nil
}

// UndoCancel restores a cancelled subscription before its end, as the user does.
func (s *Store) UndoCancel(token string) error {
	return s.act(token, func(p *purchase) error {
		if !p.restorable() {
			return errors.New("the subscription can't be restored")
		}
		p.State, p.CanceledBy, p.CanceledAt, p.Items[0].Ending = stateActive, "", time.Time{}, false
		s.notify(p, noteRestarted)
		return nil
	})
}

// Expire ends a subscription now.
func (s *Store) Expire(token string) error {
	return s.act(token, func(p *purchase) error {
		if !p.live() || p.once() {
			return errors.New("the subscription has ended")
		}
		p.RetireAt = time.Time{}
		if p.State != stateCanceled && !p.Items[0].Prepaid {
			s.cancelAndExpire(p, "system")
		} else {
			s.expire(p)
		}
		return nil
	})
}

// Revoke ends a subscription now and refunds its last order, as the developer does.
func (s *Store) Revoke(token string) error {
	return s.act(token, func(p *purchase) error { return s.revokeByDeveloper(p, false) })
}

// revokeByDeveloper ends a subscription, with a refund for all of the last period or, prorated,
// for the rest of it.
func (s *Store) revokeByDeveloper(p *purchase, prorated bool) error {
	if !p.live() {
		return errors.New("the subscription has ended")
	}
	last := s.order(p.Items[0].OrderID)
	s.voidOrder(last, 0, 1, false)
	if prorated && last != nil {
		last.State = "PARTIALLY_REFUNDED"
	}
	s.revoke(p, "developer")
	return nil
}

// AddItem adds a product to a subscription.
func (s *Store) AddItem(token string, line Line) error {
	return s.act(token, func(p *purchase) error {
		if err := p.in(stateActive); err != nil {
			return err
		}
		added, err := s.newItem(line.ProductID, line.PlanID, "")
		if err != nil {
			return err
		}
		added.OrderID, added.ExpiresAt = p.Items[0].OrderID, p.PaidUntil
		p.Items = append(p.Items, added)
		s.notify(p, noteItemsChanged)
		return nil
	})
}

// RemoveItem removes a product from a subscription at the next renewal.
func (s *Store) RemoveItem(token, productID string) error {
	return s.act(token, func(p *purchase) error {
		at := slices.IndexFunc(p.Items, func(i item) bool { return i.ProductID == productID })
		if at < 0 || len(p.Items) == 1 {
			return errors.New("the product can't be removed")
		}
		p.Items[at].DeferredRemoval = true
		s.notify(p, noteItemsChanged)
		return nil
	})
}

// Modes of a change of price, as Google names them.
const (
	PriceDecrease       = "PRICE_DECREASE"
	PriceIncrease       = "PRICE_INCREASE" // the user has to agree before it counts
	OptOutPriceIncrease = "OPT_OUT_PRICE_INCREASE"
	// PriceStepUp is not of Google's modes: the price after an offer, to which the user has to agree in some countries.
	PriceStepUp = "PRICE_STEP_UP"
)

// notices are how many days before a higher price its change is announced. A lower one counts
// from the next renewal.
var notices = map[string]int{PriceIncrease: 37, OptOutPriceIncrease: 30}

// ChangePrice changes the price of a plan, for new buyers at once and for others with their
// first renewal after the days of notice, which license testers do not have.
func (s *Store) ChangePrice(productID, planID string, price Money, mode string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	plan, err := s.plan(productID, planID)
	if err != nil {
		return err
	}
	plan.Price = price
	state := "CONFIRMED"
	if mode == PriceIncrease || mode == PriceStepUp {
		state = "OUTSTANDING"
	}
	for _, p := range s.state.Purchases {
		for i := range p.Items {
			if it := &p.Items[i]; p.renews() && it.ProductID == productID && it.PlanID == plan.ID {
				it.Change = s.newPriceChange(p, mode)
				it.Change.State, it.Change.Price = state, price
				p.Revision++
				s.notify(p, it.Change.note())
			}
		}
	}
	return nil
}

// note is the notification about a change of its state.
func (c *priceChange) note() int {
	if c.Mode == PriceStepUp {
		return noteStepUp
	}
	return notePriceChange
}

func (s *Store) newPriceChange(p *purchase, mode string) *priceChange {
	change := &priceChange{Mode: mode, At: p.PaidUntil}
	for first := s.state.Now.AddDate(0, 0, notices[mode]); !p.Test && change.At.Before(first); change.Waits++ {
		change.At = s.periodAfter(p, change.At)
	}
	return change
}

// AcceptPrice agrees to a higher price.
func (s *Store) AcceptPrice(token string) error {
	return s.act(token, func(p *purchase) error {
		var agreed *priceChange
		for i := range p.Items {
			if c := p.Items[i].Change; c != nil && c.State == "OUTSTANDING" {
				c.State, agreed = "CONFIRMED", c
			}
		}
		if agreed == nil {
			return errors.New("no change of the price is waiting")
		}
		s.notify(p, agreed.note())
		if agreed.Mode != PriceStepUp {
			s.notify(p, notePriceConfirmed)
		}
		return nil
	})
}
