package store

import (
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Sales is how many purchases were sold in one currency, in all or in a part of a time.
type Sales = storedb.Sales

// SalesQuery asks for the sales of a time.
type SalesQuery = storedb.SalesQuery

// The splits of sales.
const (
	SalesByDay    = storedb.SalesByDay
	SalesByItem   = storedb.SalesByItem
	SalesTogether = storedb.SalesTogether
)

// MaxSalesTime is the longest time that sales and activity are added up of: a leap year.
const MaxSalesTime = 366 * 24 * time.Hour

// Sales adds up the sales of a workspace. A time that is longer than [MaxSalesTime] is
// time_too_long.
func (s *Store) Sales(ctx context.Context, a people.Actor, workspace string, q SalesQuery) ([]Sales, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return nil, err
	}
	if err := checkTime(q.From.Time, q.Until.Time); err != nil {
		return nil, err
	}
	if q.By == SalesByItem {
		return s.sales.Add(ctx, w.ID, q)
	}
	return s.db.SalesOfDays(ctx, w.ID, q)
}

// checkTime refuses a time that is too long to be added up.
func checkTime(from, until time.Time) error {
	if until.Sub(from) > MaxSalesTime {
		return fault.Invalid("time_too_long", "Sales and activity are added up for 366 days at most")
	}
	return nil
}

// ItemNames returns the names of items of a workspace by their ids. Those of other
// workspaces have none.
func (s *Store) ItemNames(ctx context.Context, a people.Actor, workspace string, ids []int64) (map[int64]string, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return nil, err
	}
	return s.db.ItemNames(ctx, w.ID, ids)
}

// SetUp is what a workspace has of the things that it needs before its first customer.
type SetUp struct {
	Profile bool // has a heading
	Item    bool
	Key     bool // that works
	// Purchase reports that something was sold.
	Purchase bool
	Call     bool // with a key; known some seconds after it
}

// Done reports whether nothing is left to do.
func (s SetUp) Done() bool { return s == SetUp{true, true, true, true, true} }

// SetUp returns how far a workspace is set up.
func (s *Store) SetUp(ctx context.Context, a people.Actor, workspace string) (SetUp, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return SetUp{}, err
	}
	done := SetUp{Profile: w.Account.Profile.Heading != ""}
	if done.Item, err = s.db.HasItems(ctx, w.ID); err != nil {
		return SetUp{}, err
	}
	if done.Purchase, err = s.db.HasPurchases(ctx, w.ID); err != nil {
		return SetUp{}, err
	}
	keys, err := s.Keys(ctx, a, workspace)
	done.Key = slices.ContainsFunc(keys, func(k Key) bool { return KeyStateAt(k, s.now()) == KeyActive })
	done.Call = slices.ContainsFunc(keys, func(k Key) bool { return !k.LastUsedAt.IsZero() })
	return done, err
}
