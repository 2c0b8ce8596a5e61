package membership

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/jobs"
)

// settingsWait is longer than another process takes to notice that settings were published.
const settingsWait = 3 * time.Second

// RulesChanged has all memberships derived again, in the transaction that changes the rank of a package, or whose test
// purchases count.
func (s *Service) RulesChanged(ctx context.Context, tx *addondb.DB) error {
	return s.put(ctx, tx, jobs.Task{Kind: KindDerive, Key: RepeatingKey, Due: s.now().Add(settingsWait)})
}

// Published has the alerts examined whose causes a publication ends, and all memberships derived again when it changes
// whose test purchases count.
func (s *Service) Published(ctx context.Context, tx *addondb.DB, before, after iap.Values) error {
	// In the order of [Service.Start], or each would wait for the other.
	err := s.put(ctx, tx, jobs.Task{Kind: KindCatalogue, Key: RepeatingKey, Due: s.now().Add(endAlertsWait)})
	err = errors.Join(err, s.putEndAlerts(ctx, tx))
	if before.TestPurchases.Rule == after.TestPurchases.Rule && slices.Equal(before.TestPurchases.Users, after.TestPurchases.Users) {
		return err
	}
	return errors.Join(err, s.RulesChanged(ctx, tx))
}

// doDerive derives all memberships again, some users in each transaction.
func (s *Service) doDerive(ctx context.Context, _ []byte) (again time.Time, err error) {
	const atOnce = 50
	for after := ""; ; {
		users, err := s.db.Members(ctx, after, atOnce)
		if err != nil || len(users) == 0 {
			return time.Time{}, err
		}
		after = users[len(users)-1]
		if err := s.tx(ctx, func(tx *txn) error { return s.recompute(ctx, tx, change{}, users...) }); err != nil {
			return time.Time{}, err
		}
	}
}
