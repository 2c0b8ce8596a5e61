package playdoc

import (
	"errors"
	"fmt"
	"time"
)

// Renew pays the next period, which begins at the expiry (Lifecycle, renewals). The caller
// moves the clock.
func (p *Play) Renew(token string) error {
	return p.act(token, func(s *subscription, now time.Time) error {
		if s.state != active || !s.renews || s.ends() || s.pause != "" || !s.declined.IsZero() {
			return errors.New("the subscription does not renew")
		}
		p.renewFrom(s, s.current().expires, now)
		p.notify(s, subscriptionRenewed, now)
		return nil
	})
}

// Decline declines a payment: of a pending purchase, which is canceled with it; of the next
// renewal; or of the renewal at the end of a pause. After a renewal was declined, only the
// clock moves: silent period, grace period, account hold, end. Due returns the times.
func (p *Play) Decline(token string) error {
	return p.act(token, func(s *subscription, now time.Time) error {
		switch {
		case s.state == pending:
			p.cancelPending(s, now)
		case s.state == paused || s.state == active && s.pause != "":
			s.badCard = true
		case s.state == active && s.renews && s.declined.IsZero():
			s.badCard, s.declined = true, s.current().expires
			s.unpaid = p.charge(s, charge{at: now, from: s.declined, price: s.items[len(s.items)-1].priceAt(s.declined), unpaid: true}).id
		default:
			return errors.New("no payment to decline")
		}
		return nil
	})
}

func (p *Play) cancelPending(s *subscription, now time.Time) {
	s.state, s.renews = pendingCanceled, false
	p.notify(s, subscriptionPendingPurchaseCanceled, now)
}

// Recover pays a declined renewal. During the grace period, the renewal date stays and the
// notification is that of a renewal; during an account hold, the date moves to now
// (Lifecycle, grace period and account hold).
func (p *Play) Recover(token string) error {
	return p.act(token, func(s *subscription, now time.Time) error {
		switch {
		case s.declined.IsZero():
			return errors.New("no declined payment")
		case s.state == onHold:
			p.renewFrom(s, now, now)
			p.notify(s, subscriptionRecovered, now)
		default:
			p.renewFrom(s, s.declined, now)
			p.notify(s, subscriptionRenewed, now)
		}
		return nil
	})
}

// Cancel cancels for the user, who keeps the access until the expiry (Lifecycle,
// cancellations). On hold or paused, that is at once. A pending purchase is canceled whole.
func (p *Play) Cancel(token string) error {
	return p.act(token, func(s *subscription, now time.Time) error {
		if s.state == pending {
			p.cancelPending(s, now)
			return nil
		}
		if err := s.mayCancel(); err != nil {
			return err
		}
		p.cancel(s, byUser, now)
		return nil
	})
}

// mayCancel refuses prepaid plans, which can't be canceled (Lifecycle, prepaid plans), and
// subscriptions that have ended.
func (s *subscription) mayCancel() error {
	if s.prepaid() || !s.renews || s.leaving || s.state == pending {
		return fmt.Errorf("a subscription in %s can't be canceled", s.state)
	}
	return nil
}

// Restore undoes a cancellation by the user before the expiry; the token stays, and all
// fields of the cancellation go (Lifecycle, restore). A cancellation by the developer that
// stops payments can't be undone (Manage, cancellations).
func (p *Play) Restore(token string) error {
	return p.act(token, func(s *subscription, now time.Time) error {
		if s.state != canceled || s.canceledBy != byUser {
			return errors.New("the cancellation can't be undone")
		}
		s.state, s.renews, s.canceledBy, s.canceledAt = active, true, "", time.Time{}
		if !s.declined.IsZero() && !now.Before(s.declined.Add(s.silence())) {
			s.state = inGrace
		}
		p.notify(s, subscriptionRestarted, now)
		return nil
	})
}

// Pause schedules a pause of n months, or of n weeks for a weekly plan; it begins at the
// expiry. The lengths are those of Lifecycle's table.
func (p *Play) Pause(token string, n int) error {
	return p.act(token, func(s *subscription, now time.Time) error {
		plan, unit, most := s.current().plan, "M", 3
		if plan.Period.weekly() {
			unit, most = "W", 4
		}
		if s.state != active || !s.renews || !s.declined.IsZero() || plan.Period.annual() || n < 1 || n > most {
			return errors.New("the subscription can't be paused so")
		}
		s.pause = Period(fmt.Sprintf("P%d%s", n, unit))
		p.notify(s, subscriptionPauseScheduleChanged, now)
		return nil
	})
}

// Resume ends a pause at once; the billing date moves to now (Lifecycle, paused
// subscriptions). A pause that has not begun is taken back.
func (p *Play) Resume(token string) error {
	return p.act(token, func(s *subscription, now time.Time) error {
		switch {
		case s.pause == "":
			return errors.New("the subscription has no pause")
		case s.state == active:
			s.pause = ""
			p.notify(s, subscriptionPauseScheduleChanged, now)
		default:
			p.resume(s, now)
		}
		return nil
	})
}

// Expire ends a subscription now. One that renews is canceled by the system before it.
func (p *Play) Expire(token string) error {
	return p.act(token, func(s *subscription, now time.Time) error {
		if s.started.IsZero() || s.state == expired {
			return errors.New("the subscription has not started, or has ended")
		}
		if s.renews {
			p.cancel(s, bySystem, now)
		}
		p.expire(s, now)
		return nil
	})
}

// Revoke refunds the last order in full and ends the subscription, as the developer's
// console does (Manage, revocations).
func (p *Play) Revoke(token string) error {
	return p.act(token, func(s *subscription, now time.Time) error { return p.revokeAndRefund(s, 1, now) })
}

// Chargeback takes the money of an order back through the user's bank, and ends the
// subscription when it is the last one (Lifecycle, revocations; Voided, reason 7). Chosen:
// the order of an earlier period ends nothing.
func (p *Play) Chargeback(order string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	o, now := p.orders[order], p.now()
	if o == nil || o.state != "PROCESSED" {
		return errors.New("playdoc: no paid order")
	}
	p.void(o, o.price, now, voidedByUser, chargeback)
	p.revokeOnce(o.token)
	if s := p.find(o.token); s != nil && s.current().order == o.id && s.state != expired {
		p.revoke(s, bySystem, now)
	}
	return nil
}

// Refund refunds an order in full. With revoke, the subscription ends if the order is its
// last one and it has access; otherwise it continues (Manage, refunds by order id).
func (p *Play) Refund(order string, revoke bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	o := p.orders[order]
	if o == nil {
		return errors.New("playdoc: unknown order")
	}
	return p.refundOrder(o, revoke, p.now())
}

// LastOrder returns the number of the last paid order of a purchase.
func (p *Play) LastOrder(token string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.find(token); s != nil {
		return s.current().order
	}
	if o := p.findOnce(token); o != nil {
		return o.order
	}
	return ""
}
