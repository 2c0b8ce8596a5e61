package addon

import (
	"context"

	"github.com/countersign/countersign/internal/health"
)

// Doctor looks for what is wrong with the addon. It works in every state and
// without [Addon.Prepare]; a check that fails is itself a finding.
func (a *Addon) Doctor(ctx context.Context) []health.Finding { return nil }
