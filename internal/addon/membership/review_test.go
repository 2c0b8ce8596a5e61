package membership

import (
	"context"

	"github.com/countersign/countersign/internal/play"
)

// Orders returns the orders that were set. An unknown one fails the call as long as some are set.
func (s *scripted) Orders(_ context.Context, ids []string) (list []play.Order, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if token, there := s.orders[id]; there {
			list = append(list, play.Order{ID: id, Token: token})
		} else if s.orders != nil {
			return nil, &play.Error{Reason: play.Refused}
		}
	}
	return list, s.down
}

// ReviewRefund counts the answers to chargeback reviews.
func (s *scripted) ReviewRefund(_ context.Context, order, _ string, _ play.RefundPreference, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls["review "+order]++
	return s.down
}
