package store

import (
	"context"

	"github.com/countersign/countersign/internal/health"
)

// Doctor looks for what is wrong with the store. It works without
// [Store.Prepare]; a check that fails is itself a finding.
func (s *Store) Doctor(ctx context.Context) []health.Finding { return nil }
