package store

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/group"
)

// useInterval is how often last uses are written.
const useInterval = time.Minute

// writeUsesEvery writes last uses until ctx ends; [Store.Close] writes the rest.
func (s *Store) writeUsesEvery(ctx context.Context) { group.Every(ctx, useInterval, s.writeUses) }

// writeUses writes which keys were used since the last time. What can't be written now
// is kept for the next time.
func (s *Store) writeUses(ctx context.Context) {
	if err := s.uses.Write(ctx, s.database, "keys"); err != nil {
		s.log.Warn("the keys' last uses could not be written", "cause", err)
	}
}
