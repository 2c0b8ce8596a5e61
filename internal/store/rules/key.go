package rules

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// CheckKeyScope holds a publishable key to an item of its workspace, and a secret
// one to none.
func CheckKeyScope(ctx context.Context, tx *storedb.DB, k storedb.Key) error {
	switch {
	case k.Class == storedb.ClassSecret && k.ItemID != 0:
		return fault.Invalid(fault.CodeInvalid, "A secret key opens all items; only a publishable key is bound to one")
	case k.Class == storedb.ClassSecret:
		return nil
	case k.Class != storedb.ClassPublishable:
		return fault.Invalid(fault.CodeInvalid, fmt.Sprintf("A key's class is secret or publishable, not %q", k.Class))
	case k.ItemID == 0:
		return fault.Invalid(fault.CodeInvalid, "A publishable key is bound to one item; name it")
	}
	owner, err := tx.ItemWorkspace(ctx, k.ItemID)
	if errors.Is(err, sqldb.ErrNotFound) || (err == nil && owner != k.WorkspaceID) {
		return fault.NotFound("item_not_found", fmt.Sprintf("The workspace %s has no item %d", k.Workspace, k.ItemID))
	}
	return err
}

// Passed reports whether an end has come; no end never comes.
func Passed(end countersign.Timestamp, now time.Time) bool {
	return !end.IsZero() && !now.Before(end.Time)
}
