package playfake

import (
	"slices"
	"time"
)

// How long things last at Google.
const (
	silentRetry     = 24 * time.Hour // of declined renewals, while the state stays ACTIVE
	ackTime         = 3 * 24 * time.Hour
	ackTimeTest     = 5 * time.Minute
	graceTest       = 5 * time.Minute
	holdTest        = 10 * time.Minute
	maxTestRenewals = 6
	pendingTime     = 3 * 24 * time.Hour
	tokenLife       = 60 * 24 * time.Hour // after the end
	recoveryDays    = 60                  // grace period and account hold together
)

// Advance moves the store's clock forward. What becomes due on the way happens in its order,
// each at its time.
func (s *Store) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advanceTo(s.state.Now.Add(d))
}

// AdvanceTo moves the store's clock to a time, and leaves it where it is when that is past.
func (s *Store) AdvanceTo(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advanceTo(t)
}

func (s *Store) advanceTo(target time.Time) {
	for {
		p, next := s.earliest()
		if p == nil || next.at.After(target) {
			break
		}
		if next.at.After(s.state.Now) {
			s.state.Now = next.at
		}
		next.do(p)
		p.Revision++
	}
	if target.After(s.state.Now) {
		s.state.Now = target
	}
}

// event is something that happens to a purchase by itself.
type event struct {
	at time.Time
	do func(*purchase)
}

// Next returns when the next thing happens by itself, zero for never.
func (s *Store) Next() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, next := s.earliest()
	return next.at
}

// earliest returns what happens next, a nil purchase for nothing.
func (s *Store) earliest() (first *purchase, next event) {
	for _, p := range s.state.Purchases {
		if e := s.nextOf(p); e.do != nil && (first == nil || e.at.Before(next.at)) {
			first, next = p, e
		}
	}
	return first, next
}

// nextOf returns what happens next to a purchase. Every event changes what it depends on.
func (s *Store) nextOf(p *purchase) (next event) {
	add := func(at time.Time, do func(*purchase)) {
		if !at.IsZero() && (next.do == nil || at.Before(next.at)) {
			next = event{at, do}
		}
	}
	if p.live() && !p.Acknowledged {
		add(p.AckBy, s.voidUnacknowledged)
	}
	if p.live() && !(p.Unnoticed && s.successorWaits(p)) {
		add(p.RetireAt, s.retire)
	}
	switch p.State {
	case statePending, stateOncePending:
		add(p.PendingUntil, s.abandon)
	case stateActive:
		if !p.RetireAt.IsZero() {
			break
		}
		if p.RetryUntil.IsZero() {
			add(p.expiresAt(), s.endPeriod)
		} else {
			add(p.RetryUntil, s.endRetry)
		}
	case stateCanceled:
		add(p.expiresAt(), s.expire)
	case stateGrace:
		add(p.GraceUntil, s.beginHold)
	case stateHold:
		add(p.HoldUntil, s.endHold)
	case statePaused:
		add(p.ResumeAt, s.resume)
	}
	return next
}

// successorWaits reports whether the purchase that replaces another one is not acknowledged yet.
func (s *Store) successorWaits(old *purchase) bool {
	return slices.ContainsFunc(s.state.Purchases, func(p *purchase) bool { return p.Linked == old.Token && p.live() && !p.Acknowledged })
}

// endPeriod does what Google does at the end of a period that was paid.
func (s *Store) endPeriod(p *purchase) {
	first := &p.Items[0]
	switch {
	case first.Prepaid:
		s.expire(p)
	case first.declined():
		s.cancelAndExpire(p, "user")
	case p.Test && p.Renewals >= maxTestRenewals:
		s.cancelAndExpire(p, "system")
	case p.Pause > 0:
		p.State, p.ResumeAt, p.Pause = statePaused, s.state.Now.Add(p.Pause), 0
		s.notify(p, notePaused)
	case p.Declined:
		p.PendingOrder = s.addOrder(p, "PENDING", s.state.Now, s.periodAfter(p, s.state.Now)).ID
		if p.RetryUntil = s.state.Now.Add(silentRetry); p.Test {
			s.endRetry(p)
		}
	default:
		s.renew(p, p.PaidUntil, noteRenewed)
	}
}

// endsNext reports whether a purchase ends with the period that was paid.
func (s *Store) endsNext(p *purchase) bool {
	first := &p.Items[0]
	return first.Prepaid || first.declined() || p.Test && p.Renewals >= maxTestRenewals
}

// endRetry ends the silent day of retries.
func (s *Store) endRetry(p *purchase) {
	p.RetryUntil = time.Time{}
	grace := time.Duration(s.planOf(p).Grace) * 24 * time.Hour
	if grace <= 0 {
		s.beginHold(p)
		return
	}
	if p.Test {
		grace = graceTest
	}
	p.State, p.GraceUntil = stateGrace, s.state.Now.Add(grace)
	p.setExpiry(p.GraceUntil)
	s.notify(p, noteGrace)
}

// beginHold suspends a purchase.
func (s *Store) beginHold(p *purchase) {
	plan := s.planOf(p)
	days := plan.Hold
	if days == 0 {
		days = recoveryDays - plan.Grace
	}
	p.GraceUntil, p.ResumeAt = time.Time{}, time.Time{}
	p.setExpiry(p.PaidUntil)
	if days <= 0 {
		s.cancelAndExpire(p, "system")
		return
	}
	hold := time.Duration(days) * 24 * time.Hour
	if p.Test {
		hold = holdTest
	}
	p.State, p.HoldUntil = stateHold, s.state.Now.Add(hold)
	s.notify(p, noteHold)
}

func (s *Store) endHold(p *purchase) { s.cancelAndExpire(p, "system") }

// resume ends a pause.
func (s *Store) resume(p *purchase) {
	p.ResumeAt = time.Time{}
	if p.Declined {
		p.PendingOrder = s.addOrder(p, "PENDING", s.state.Now, s.periodAfter(p, s.state.Now)).ID
		s.beginHold(p)
		return
	}
	s.renew(p, s.state.Now, noteRecovered)
}

// cancelAndExpire ends a purchase for which no time is left.
func (s *Store) cancelAndExpire(p *purchase, by string) {
	p.State, p.CanceledBy, p.CanceledAt = stateCanceled, by, s.state.Now
	s.notify(p, noteCanceled)
	s.expire(p)
}

// expire ends a purchase.
func (s *Store) expire(p *purchase) {
	p.State, p.EndedAt = stateExpired, s.state.Now
	p.GraceUntil, p.HoldUntil, p.RetryUntil, p.ResumeAt, p.Pause = time.Time{}, time.Time{}, time.Time{}, time.Time{}, 0
	s.dropPendingOrder(p)
	if p.expiresAt().After(s.state.Now) {
		p.setExpiry(s.state.Now)
	}
	s.notify(p, noteExpired)
}

// retire ends a purchase that another one replaced.
func (s *Store) retire(p *purchase) {
	p.RetireAt = time.Time{}
	p.CanceledBy, p.CanceledAt = "replacement", s.state.Now
	p.setExpiry(s.state.Now)
	s.expire(p)
}

// abandon ends a purchase that was never paid.
func (s *Store) abandon(p *purchase) {
	s.dropPendingOrder(p)
	if p.once() {
		p.State = stateCancelled
		s.notifyOnce(p, noteOnceCanceled)
		return
	}
	p.State = statePendingCanceled
	s.notify(p, notePendingCanceled)
}

// voidUnacknowledged refunds a purchase that nobody acknowledged.
func (s *Store) voidUnacknowledged(p *purchase) {
	s.voidOrder(s.order(p.Items[0].OrderID), 8, 2, false)
	s.revoke(p, "system")
}

// revoke ends a purchase before its time.
func (s *Store) revoke(p *purchase, by string) {
	if p.once() { // the notification of its void is all that Google sends
		p.State, p.EndedAt, p.Items[0].Refundable = stateCancelled, s.state.Now, 0
		return
	}
	p.State, p.CanceledBy, p.EndedAt = stateExpired, by, s.state.Now
	p.RetireAt, p.RetryUntil = time.Time{}, time.Time{}
	s.dropPendingOrder(p)
	if p.expiresAt().After(s.state.Now) {
		p.setExpiry(s.state.Now)
	}
	s.notify(p, noteRevoked)
}
