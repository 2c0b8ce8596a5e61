package membership

import (
	"context"

	"github.com/countersign/countersign/internal/play"
)

// ReviewRefund counts the answers to chargeback reviews.
func (s *scripted) ReviewRefund(_ context.Context, order, _ string, _ play.RefundPreference, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls["review "+order]++
	return s.down
}
