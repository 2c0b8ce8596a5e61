package access

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Workspace finds a workspace by its username, for an actor who manages the store.
func Workspace(ctx context.Context, db *storedb.DB, a people.Actor, username string) (storedb.Workspace, error) {
	if err := May(a, Manage); err != nil {
		return storedb.Workspace{}, err
	}
	w, err := db.Workspace(ctx, username)
	return w, sqldb.IfNotFound(err, NoWorkspace(username))
}

// NoWorkspace is an error of kind NotFound about a username.
func NoWorkspace(username string) error {
	return fault.NotFound("workspace_not_found", fmt.Sprintf("No workspace %q", username))
}
