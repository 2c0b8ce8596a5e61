package membership

import (
	"context"

	"github.com/countersign/countersign/internal/play"
)

// Orders returns the orders that were set.
func (s *scripted) Orders(_ context.Context, ids []string) (list []play.Order, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return list, s.down
}

// ReviewRefund counts the answers to chargeback reviews.
func (s *scripted) ReviewRefund(_ context.Context, order, _ string, _ play.RefundPreference, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls["review "+order]++
	return s.down
}
