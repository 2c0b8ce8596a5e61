package membership

import (
	"context"

	"github.com/countersign/countersign/internal/play"
)

const alertPull = "notifications_not_pulled"

// NotePull raises an alert when notifications can't be pulled from a subscription until somebody changes something, and
// resolves it when they can. failed is why they could not be pulled, nil when they were.
func (s *Service) NotePull(ctx context.Context, subscription string, failed error) error {
	reason, _ := reasonOf(failed)
	problem := ""
	switch reason {
	case "":
		return s.resolveOnce(ctx, &s.pulls, alertPull, "")
	case play.Unauthorized:
		problem = "The service account may not pull notifications. Grant it the role Pub/Sub Subscriber for the subscription " + subscription
	case play.Refused:
		problem = "Google refuses to pull notifications. Check that the subscription " + subscription + " exists and is not a push subscription"
	default:
		return nil
	}
	s.pulls.Store(false)
	return s.raise(ctx, s.db, alertPull, "", problem)
}
