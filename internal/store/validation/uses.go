package validation

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/group"
)

// useInterval is how often last uses are written.
const useInterval = time.Minute

// writeUsesEvery writes last uses until ctx ends; [Validator.Close] writes the rest.
func (v *Validator) writeUsesEvery(ctx context.Context) { group.Every(ctx, useInterval, v.writeUses) }

// writeUses writes which keys were used since the last time. What can't be written now
// is kept for the next time.
func (v *Validator) writeUses(ctx context.Context) {
	if err := v.uses.Write(ctx, v.db.Queries.DB(), "keys"); err != nil {
		v.log.Warn("the keys' last uses could not be written", "cause", err)
	}
}
