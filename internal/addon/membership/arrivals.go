package membership

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/people"
)

// The checks of what has to arrive from the app's store.
const (
	CheckNotifications = "notifications"
	CheckTesters       = "testers"
)

// CheckArrivals finds out whether notifications of the app's store can be accepted and have arrived, and whether purchases of
// license testers are accepted and were verified. It asks the database alone.
func (s *Service) CheckArrivals(ctx context.Context, actor people.Actor) ([]health.Finding, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return nil, err
	}
	selling, err := s.selling(ctx)
	if err != nil {
		return nil, err
	}
	notifications, err := s.checkNotifications(ctx, selling)
	if err != nil {
		return nil, err
	}
	verified, err := s.db.HasPurchases(ctx, string(entitle.Test))
	notifications.Name = CheckNotifications
	return []health.Finding{notifications, testersFinding(selling.TestPurchases, verified)}, err
}

func (s *Service) checkNotifications(ctx context.Context, selling iap.Selling) (health.Finding, error) {
	found, err := s.iap.CheckNotifications(ctx)
	if err != nil || found.Level != health.OK || !selling.Enabled || selling.Simulated {
		return found, err
	}
	last, err := s.db.LastMessageAt(ctx, SimulatedPrefix+"%") // of the real store
	if !last.IsZero() {
		found.What += ". The last one arrived on " + last.UTC().Format(time.RFC3339)
		return found, err
	}
	return health.Finding{
		Level: health.Warn, What: found.What + ". None has arrived yet", Why: "Renewals and refunds are noticed late until they arrive.",
		Fix: "Send a test notification in the Play Console, under Monetization setup",
	}, err
}

// testersFinding says what becomes of purchases of license testers.
func testersFinding(rule entitle.TestPurchases, verified bool) health.Finding {
	found := health.Finding{Name: CheckTesters, Level: health.OK, What: "A test purchase was verified"}
	switch {
	case rule.Rule == entitle.DenyTests:
		found.Level, found.What, found.Fix = health.Warn, "Test purchases are refused", "countersign addon iap set "+iap.KeyTestPurchases+" allowlist"
	case rule.Rule == entitle.AllowListTests && len(rule.Users) == 0:
		found.Level, found.What, found.Fix = health.Warn, "Test purchases are refused: the list of test users is empty", "countersign addon iap set "+iap.KeyTestUsers+" USER_ID"
	case !verified:
		found.Level, found.What = health.Warn, "No test purchase was verified yet"
		found.Fix = "Add the Google account to the license testers in the Play Console, and buy with it in the app"
	case rule.Rule == entitle.AllowListTests:
		found.What += fmt.Sprintf(". Test users: %d", len(rule.Users))
	}
	return found
}

// CheckPlayURL reports an address that replaces those of Google Play.
func (s *Service) CheckPlayURL() []health.Finding {
	at := s.clients.url
	if at == "" {
		return nil
	}
	return []health.Finding{{
		Name: "app store", Level: health.Warn, What: "Google Play is replaced by " + at,
		Why: "Purchases count that this address confirms.", Fix: "Unset COUNTERSIGN_PLAY_URL to ask Google, unless the address is a proxy of yours",
	}}
}
