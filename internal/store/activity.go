package store

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Activity is how often buyers did something, in all or in a part of a time.
type Activity = storedb.Activity

// ActivityKind is what buyers did.
type ActivityKind = storedb.ActivityKind

// ActivityQuery asks for the activity of a time.
type ActivityQuery = storedb.ActivityQuery

// The kinds of activity and their splits.
const (
	LicensesIssued   = storedb.LicensesIssued
	FilesDownloaded  = storedb.FilesDownloaded
	ActivityByDay    = storedb.ActivityByDay
	ActivityByItem   = storedb.ActivityByItem
	ActivityTogether = storedb.ActivityTogether
)

// Activity counts the licenses that were issued for purchases of a workspace, or the files that
// its buyers downloaded. A time that is longer than [MaxSalesTime] is time_too_long.
func (s *Store) Activity(ctx context.Context, a people.Actor, workspace string, q ActivityQuery) ([]Activity, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return nil, err
	}
	if err := checkTime(q.From, q.Until); err != nil {
		return nil, err
	}
	if q.By == ActivityByItem {
		return s.activity.Add(ctx, w.ID, q)
	}
	return s.db.ActivityOfDays(ctx, w.ID, q)
}
