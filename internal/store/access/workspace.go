package access

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Workspace finds a workspace by its username, for an actor with a permission in it. To
// somebody who is not a member it does not exist (workspace_not_found). A member with a
// lesser role is refused (role_needed, of kind Forbidden).
func Workspace(ctx context.Context, db *storedb.DB, a people.Actor, username string, what Permission) (storedb.Workspace, error) {
	missing := NoWorkspace(username)
	if err := Somewhere(a, what); err != nil {
		return storedb.Workspace{}, err
	}
	w, err := db.Workspace(ctx, username)
	if err == nil {
		err = In(ctx, db, a, w.ID, what, missing)
	}
	if err != nil {
		return storedb.Workspace{}, sqldb.IfNotFound(err, missing)
	}
	return w, nil
}

// In is nil when an actor has a permission in the workspace of a thing. To somebody who
// is not a member the thing does not exist: the error is missing. An actor with a
// workspace reaches the things of that one alone.
func In(ctx context.Context, db *storedb.DB, a people.Actor, workspace int64, what Permission, missing error) error {
	if err := Somewhere(a, what); err != nil {
		return err
	}
	if a.Workspace != 0 && a.Workspace != workspace {
		return missing
	}
	if everywhere, err := mayEverywhere(ctx, db, a, what); err != nil || everywhere {
		return err
	}
	m, err := db.Member(ctx, workspace, a.User)
	switch {
	case errors.Is(err, sqldb.ErrNotFound):
		return missing
	case err != nil:
		return err
	case m.Inactive || !Allows(m.Role, what):
		return roleNeeded(ctx, db, workspace, m.Role, what)
	}
	return nil
}

// mayEverywhere reports whether an actor has a permission in every workspace. Of an
// administrator the database has the last word: the rights may have ended since the request began.
func mayEverywhere(ctx context.Context, db *storedb.DB, a people.Actor, what Permission) (bool, error) {
	if May(a, what) != nil {
		return false, nil
	}
	if a.Kind != people.KindUser {
		return true, nil
	}
	u, err := db.User(ctx, a.User)
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil
	}
	return err == nil && u.Administrator && !u.Inactive, err
}

// Administers is [May] with [Administer], for a transaction: it is refused to an administrator
// whose rights have ended by then.
func Administers(ctx context.Context, tx *storedb.DB, a people.Actor) error {
	is, err := mayEverywhere(ctx, tx, a, Administer)
	if err == nil && !is {
		a.Administrator = false
		err = May(a, Administer)
	}
	return err
}

// Import is nil when an actor may import into all of the store. To an actor with a workspace,
// the rest of the store does not exist: the error is missing.
func Import(ctx context.Context, db *storedb.DB, a people.Actor, missing error) error {
	if a.Workspace != 0 {
		return In(ctx, db, a, 0, Manage, missing)
	}
	return Administers(ctx, db, a)
}

// Somewhere is an error unless an actor may have a permission in some workspace.
func Somewhere(a people.Actor, what Permission) error {
	if a.Kind == people.KindUser && a.User > 0 && what < Administer {
		return nil
	}
	return May(a, what)
}

// Allows reports whether members with a role have a permission.
func Allows(r storedb.Role, what Permission) bool {
	switch r {
	case storedb.RoleOwner:
		return what >= LicensePurchases && what <= Own
	case storedb.RoleManager:
		return what >= LicensePurchases && what <= Manage
	case storedb.RoleViewer:
		return what == View
	}
	return false
}

// roleNeeded returns the refusal of a member without a permission. It names the member's role, the
// role that has the permission, and who can change it: the owners, or the administrators of a
// workspace without an owner.
func roleNeeded(ctx context.Context, db *storedb.DB, workspace int64, has storedb.Role, what Permission) error {
	role := storedb.RoleManager
	if !Allows(role, what) {
		role = storedb.RoleOwner
	}
	members, err := db.Members(ctx, workspace)
	if err != nil {
		return err
	}
	var owners []string
	for _, m := range members {
		if m.Role == storedb.RoleOwner && !m.Inactive {
			owners = append(owners, m.Email)
		}
	}
	who := "an owner of the workspace: " + strings.Join(owners, ", ")
	if len(owners) == 0 {
		names, err := administrators(ctx, db)
		if err != nil {
			return err
		}
		who = "an administrator of the store: " + strings.Join(names, ", ")
	}
	return fault.Forbidden("role_needed", fmt.Sprintf("Your role here is %s. This needs the role %s. Ask %s", has, role, who))
}

// administrators are the e-mail addresses of the store's active administrators.
func administrators(ctx context.Context, db *storedb.DB) (names []string, err error) {
	users, err := db.Users(ctx)
	for _, u := range users {
		if u.Administrator && !u.Inactive {
			names = append(names, u.Email)
		}
	}
	return names, err
}

// SeesBuyers reports whether an actor who sees a workspace may read the e-mail addresses of
// its buyers.
func SeesBuyers(ctx context.Context, db *storedb.DB, a people.Actor, workspace int64) (bool, error) {
	role, err := Role(ctx, db, a, workspace)
	return Allows(role, Manage), err
}

// Role returns the role of an actor in a workspace that it can see: that of an owner for
// administrators and the operator.
func Role(ctx context.Context, db *storedb.DB, a people.Actor, workspace int64) (storedb.Role, error) {
	if May(a, Own) == nil {
		return storedb.RoleOwner, nil
	}
	m, err := db.Member(ctx, workspace, a.User)
	return m.Role, err
}

// NoWorkspace is an error of kind NotFound about a username.
func NoWorkspace(username string) error {
	return fault.NotFound("workspace_not_found", fmt.Sprintf("No workspace %q", username))
}
