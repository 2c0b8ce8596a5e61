package playfake

import (
	"strings"
	"time"
)

// Purchase is what a page shows of a purchase.
type Purchase struct {
	Token, Linked     string
	State             string // Google's name without its SUBSCRIPTION_STATE_
	OneTime           bool   // it is of a product that is bought once
	ProductID, PlanID string
	Account           string
	Test              bool
	Acknowledged      bool
	Consumed          bool      // it can be bought again
	Declined          bool      // its card is declined
	ExpiresAt         time.Time // zero before the payment
	// Next is when the next thing happens by itself, zero for never. NextState is the state
	// after it.
	Next      time.Time
	NextState string
	// Live reports that it was paid and has not ended, Renews that Google will charge again,
	// Retrying that a declined payment is tried again in silence, Pausing that a pause is
	// scheduled, and Restorable that the user can undo the cancellation.
	Live, Renews, Retrying, Pausing, Restorable bool
	// Replaced reports that another purchase took its place.
	Replaced bool
	// Order is the id of the order of the current period, "" for one that was refunded.
	Order string
}

// Purchases returns all purchases, oldest first.
func (s *Store) Purchases() []Purchase {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Purchase, 0, len(s.state.Purchases))
	for _, p := range s.state.Purchases {
		list = append(list, s.view(p))
	}
	return list
}

// OrderCount returns how many orders there were.
func (s *Store) OrderCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.state.Orders)
}

// view returns what a page shows of a purchase.
func (s *Store) view(p *purchase) Purchase {
	first := p.Items[0]
	v := Purchase{
		Token: p.Token, Linked: p.Linked, State: shortState(p.State), OneTime: first.OneTime, ProductID: first.ProductID, PlanID: first.PlanID,
		Account: p.Account, Test: p.Test, Acknowledged: p.Acknowledged, Consumed: first.Consumed, Declined: p.Declined, ExpiresAt: p.expiresAt(),
		Next: s.nextOf(p).at, Live: p.live(), Renews: p.renews(), Retrying: !p.RetryUntil.IsZero(), Pausing: p.Pause > 0,
		Restorable: p.restorable(), Replaced: !p.RetireAt.IsZero() || p.CanceledBy == "replacement",
	}
	if !v.Next.IsZero() {
		v.NextState = shortState(s.stateAfter(p, v.Next))
	}
	if o := s.order(first.OrderID); o != nil && o.State == "PROCESSED" {
		v.Order = o.ID
	}
	return v
}

func shortState(state string) string { return strings.TrimPrefix(state, "SUBSCRIPTION_STATE_") }

// stateAfter returns the state of a purchase after what happens to it at a time by itself.
func (s *Store) stateAfter(p *purchase, at time.Time) string {
	plan := s.planOf(p)
	switch {
	case p.once():
		return stateCancelled
	case p.State == statePending:
		return statePendingCanceled
	case p.live() && (!p.Acknowledged && at.Equal(p.AckBy) || at.Equal(p.RetireAt)):
		return stateExpired
	case p.State == stateActive && !p.RetryUntil.IsZero() && plan.Grace > 0:
		return stateGrace
	case p.State == stateActive && !p.RetryUntil.IsZero(), p.State == stateGrace, p.State == statePaused && p.Declined:
		if plan.Hold < 0 || plan.Hold == 0 && plan.Grace >= recoveryDays {
			return stateExpired
		}
		return stateHold
	case p.State == statePaused:
		return stateActive
	case p.State != stateActive || s.endsNext(p):
		return stateExpired
	case p.Pause > 0:
		return statePaused
	}
	return stateActive
}
