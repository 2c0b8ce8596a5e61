package events

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/health"
)

// CheckWebhooks finds webhooks that are paused or fail.
func (s *Service) CheckWebhooks(ctx context.Context) (health.Finding, error) {
	list, err := s.db.Webhooks(ctx)
	if err != nil {
		return health.Finding{}, err
	}
	for _, w := range list {
		why := Reason(w.PausedFor)
		switch {
		case why == PausedByHand:
		case why != "":
			return health.Finding{
				Level: health.Warn, What: fmt.Sprintf("Webhook %s is paused: %s", webhookName(w), why.Text()),
				Why: "The site does not receive its events. They are kept for 30 days.", Fix: fmt.Sprintf("countersign addon webhook resume %d", w.ID),
			}, nil
		case !w.FailingSince.IsZero():
			return health.Finding{
				Level: health.Warn, What: fmt.Sprintf("Deliveries to webhook %s have failed since %s", webhookName(w), w.FailingSince.UTC().Format("2006-01-02 15:04 UTC")),
				Why: "The site receives its events late, or not at all.", Fix: fmt.Sprintf("countersign addon webhook deliveries %d", w.ID),
			}, nil
		}
	}
	what := fmt.Sprintf("%d webhooks", len(list))
	if len(list) == 1 {
		what = "1 webhook"
	}
	return health.Finding{Level: health.OK, What: what}, nil
}
