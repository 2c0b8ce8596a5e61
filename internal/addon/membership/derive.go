package membership

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
)

// PackageChanged has all memberships derived again, in the transaction that changes the rank
// of a package.
func (s *Service) PackageChanged(ctx context.Context, tx *addondb.DB) error {
	return s.Put(ctx, tx, Task{Kind: KindDerive, Key: RepeatingKey, Due: s.now()})
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
