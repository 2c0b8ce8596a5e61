package transfer

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// errNoUser means that the user who started an import can no longer sign in.
var errNoUser = fault.Forbidden("not_allowed", "The person who began this import is not an active user any more. Nothing was imported")

// actorNow is an actor with the rights that the user has by now: an import may wait long, and
// read long.
func actorNow(ctx context.Context, db *storedb.DB, a people.Actor) (people.Actor, error) {
	if a.Kind != people.KindUser || a.User == 0 {
		return a, nil
	}
	user, err := db.User(ctx, a.User)
	if errors.Is(err, sqldb.ErrNotFound) || err == nil && user.Inactive {
		return people.Actor{}, errNoUser
	}
	a.Administrator = user.Administrator
	return a, err
}

// mayImport returns an error when the user who started the import has lost the right to import.
func (imp *importer) mayImport(ctx context.Context, db *storedb.DB) error {
	a, err := actorNow(ctx, db, imp.actor)
	if err == nil {
		_, err = importPlace(ctx, db, a, imp.options.Workspace)
	}
	if err == nil {
		imp.actor = a
	}
	return err
}

// importPlace returns the id of a workspace into which an actor may import, 0 for all of the store.
func importPlace(ctx context.Context, db *storedb.DB, a people.Actor, username string) (id int64, err error) {
	if username == "" {
		return 0, access.Import(ctx, db, a, access.NoWorkspace(username))
	}
	w, err := access.Workspace(ctx, db, a, username, access.Manage)
	return w.ID, err
}
