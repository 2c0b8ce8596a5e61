package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Workspace is an author's account and its switches.
type Workspace = storedb.Workspace

// Workspaces lists all workspaces by username.
func (s *Store) Workspaces(ctx context.Context, a people.Actor) ([]Workspace, error) {
	if err := access.May(a, access.Administer); err != nil {
		return nil, err
	}
	list, err := s.db.Workspaces(ctx)
	for i := range list {
		list[i] = rules.WithFullName(list[i])
	}
	return list, err
}

// WorkspaceRole is a workspace with an actor's role in it.
type WorkspaceRole = storedb.WorkspaceRole

// OwnWorkspaces lists the workspaces of which a user is a member, by username; for an
// administrator and the operator, all.
func (s *Store) OwnWorkspaces(ctx context.Context, a people.Actor) ([]WorkspaceRole, error) {
	if access.May(a, access.Administer) == nil {
		all, err := s.Workspaces(ctx, a)
		list := make([]WorkspaceRole, len(all))
		for i, w := range all {
			list[i] = WorkspaceRole{Workspace: w, Role: storedb.RoleOwner}
		}
		return list, err
	}
	if err := access.Somewhere(a, access.View); err != nil {
		return nil, err
	}
	list, err := s.db.WorkspacesOf(ctx, a.User)
	for i := range list {
		list[i].Workspace = rules.WithFullName(list[i].Workspace)
	}
	return list, err
}

// MayCreateWorkspaces is an error unless an actor may create workspaces.
func (s *Store) MayCreateWorkspaces(a people.Actor) error { return access.May(a, access.Administer) }

// MayOwn is an error unless an actor is an owner of a workspace.
func (s *Store) MayOwn(ctx context.Context, a people.Actor, username string) error {
	_, err := s.workspace(ctx, a, username, access.Own)
	return err
}

// MayManage is an error unless an actor is a manager or an owner of a workspace.
func (s *Store) MayManage(ctx context.Context, a people.Actor, username string) error {
	_, err := s.workspace(ctx, a, username, access.Manage)
	return err
}

// Workspace reads one by its username.
func (s *Store) Workspace(ctx context.Context, a people.Actor, username string) (Workspace, error) {
	return s.workspace(ctx, a, username, access.View)
}

// workspace reads one by its username, for an actor with a permission in it.
func (s *Store) workspace(ctx context.Context, a people.Actor, username string, what access.Permission) (Workspace, error) {
	w, err := access.Workspace(ctx, s.db, a, username, what)
	return rules.WithFullName(w), err
}

// Role returns the role of an actor in a workspace of which it is a member, or of which the
// store's administrators are owners.
func (s *Store) Role(ctx context.Context, a people.Actor, username string) (WorkspaceRole, error) {
	w, err := s.Workspace(ctx, a, username)
	if err != nil {
		return WorkspaceRole{}, err
	}
	role, err := access.Role(ctx, s.db, a, w.ID)
	return WorkspaceRole{Workspace: w, Role: role}, err
}

// CheckWorkspace returns all that is wrong with a workspace that is to be written. It is public.
func (s *Store) CheckWorkspace(w Workspace) error {
	if w.Account.RegisteredAt.IsZero() {
		w.Account.RegisteredAt = s.timestamp()
	}
	return rules.CheckWorkspace(w)
}

// CreateWorkspace creates a workspace. A zero registration time means now.
func (s *Store) CreateWorkspace(ctx context.Context, a people.Actor, w Workspace) (Workspace, error) {
	if err := access.May(a, access.Administer); err != nil {
		return Workspace{}, err
	}
	if w.Account.RegisteredAt.IsZero() {
		w.Account.RegisteredAt = s.timestamp()
	}
	if err := rules.CheckWorkspace(w); err != nil {
		return Workspace{}, err
	}
	username := w.Account.Username
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		if err := access.Administers(ctx, tx, a); err != nil {
			return err
		}
		alike, err := tx.WorkspaceAlike(ctx, username)
		if err == nil {
			return fault.Conflict("workspace_exists", fmt.Sprintf("The workspace %q already exists", alike))
		}
		if !errors.Is(err, sqldb.ErrNotFound) {
			return err
		}
		err = tx.AddWorkspace(ctx, w)
		if errors.Is(err, sqldb.ErrExists) {
			return fault.Conflict("workspace_exists", fmt.Sprintf("The workspace %q already exists", username))
		}
		if err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionCreateWorkspace, Workspace: username, Subject: username})
	})
	if err != nil {
		return Workspace{}, err
	}
	return s.Workspace(ctx, a, username)
}

// SetWorkspace lets change alter a workspace, all but its username.
func (s *Store) SetWorkspace(ctx context.Context, a people.Actor, username string, change func(*Workspace)) (Workspace, error) {
	return s.setWorkspace(ctx, a, username, func(w *Workspace, _ *people.Event) error {
		change(w)
		return nil
	})
}

// SwitchesRevision identifies the switches of a workspace.
func SwitchesRevision(w Workspace) string { return rules.Revision(w.Switches) }

var errSwitchesChanged = fault.New(countersign.KindPrecondition, "switches_changed", "The settings changed after you opened them. Nothing was saved. Check them and try again")

// SetSwitches replaces the switches of a workspace that somebody saw with the revision seen. The
// error is of kind Precondition (switches_changed) when they have changed since. An empty
// revision is not checked.
func (s *Store) SetSwitches(ctx context.Context, a people.Actor, username, seen string, to Switches) (Workspace, error) {
	return s.setWorkspace(ctx, a, username, func(w *Workspace, _ *people.Event) error {
		if seen != "" && SwitchesRevision(*w) != seen {
			return errSwitchesChanged
		}
		w.Switches = to
		return nil
	})
}

// setWorkspace is SetWorkspace with a change that can refuse, and describe itself for the audit log.
func (s *Store) setWorkspace(ctx context.Context, a people.Actor, username string, change func(*Workspace, *people.Event) error) (Workspace, error) {
	if err := access.Somewhere(a, access.Own); err != nil {
		return Workspace{}, err
	}
	var w Workspace
	err := s.db.Tx(ctx, func(tx *storedb.DB) (err error) {
		w, err = tx.LockWorkspace(ctx, username)
		if err == nil {
			err = access.In(ctx, tx, a, w.ID, access.Own, access.NoWorkspace(username))
		}
		if err != nil {
			w = Workspace{}
			return sqldb.IfNotFound(err, access.NoWorkspace(username))
		}
		id := w.ID
		event := people.Event{Action: actionSetWorkspace, Workspace: username, Subject: username}
		if err := change(&w, &event); err != nil {
			return err
		}
		w.ID, w.Account.Username = id, username
		if err := rules.CheckWorkspace(w); err != nil {
			return err
		}
		if err := tx.UpdateWorkspace(ctx, w); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, event)
	})
	return rules.WithFullName(w), err
}

// WorkspaceAudit is the audit log of one workspace, for everybody who sees the workspace.
func (s *Store) WorkspaceAudit(username string) *people.AuditLog {
	return s.Instance.Audit.Of(username, func(ctx context.Context, a people.Actor) error {
		_, err := s.workspace(ctx, a, username, access.View)
		return err
	})
}
