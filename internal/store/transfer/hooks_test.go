package transfer

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
)

// ImportKey imports a line that gives a key an end, and calls meanwhile between
// reading the key and writing it.
func (s *Service) ImportKey(ctx context.Context, workspace, name string, expires countersign.Timestamp, meanwhile func()) error {
	imp := &importer{service: s, actor: people.Operator("tester"), bad: map[int]string{}}
	return s.db.Tx(ctx, func(tx *storedb.DB) error {
		line := keyLine{Workspace: workspace, Name: name, ExpiresAt: &expires}
		old, _, err := imp.oldKey(ctx, tx, line)
		if err != nil {
			return err
		}
		meanwhile()
		return tx.UpdateKey(ctx, s.keyFromLine(old, line))
	})
}

// ReadingAhead has an import read at most so many refunds or orders ahead.
func ReadingAhead(o ImportOptions, most int) ImportOptions {
	o.mostAhead = most
	return o
}

// Queue is the jobs of the store.
func (s *Service) Queue() *jobs.Queue { return s.queue }
