package playfake

import (
	"strings"
	"time"
)

// Purchase is what a page shows of a purchase.
type Purchase struct {
	Token, Linked     string
	State             string // Google's name without its SUBSCRIPTION_STATE_
	ProductID, PlanID string
	Account           string
	Test              bool
	Acknowledged      bool
	Declined          bool      // its card is declined
	ExpiresAt         time.Time // zero before the payment
	// Next is when the next thing happens by itself, zero for never.
	Next time.Time
}

// Purchases returns all purchases, oldest first.
func (s *Store) Purchases() []Purchase {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Purchase, 0, len(s.state.Purchases))
	for _, p := range s.state.Purchases {
		list = append(list, Purchase{
			Token: p.Token, Linked: p.Linked, State: strings.TrimPrefix(p.State, "SUBSCRIPTION_STATE_"),
			ProductID: p.Items[0].ProductID, PlanID: p.Items[0].PlanID, Account: p.Account, Test: p.Test,
			Acknowledged: p.Acknowledged, Declined: p.Declined, ExpiresAt: p.expiresAt(), Next: s.nextOf(p).at,
		})
	}
	return list
}
