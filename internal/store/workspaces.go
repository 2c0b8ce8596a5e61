package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Workspace is an author's account and its switches.
type Workspace = storedb.Workspace

// Account is the account of a key's workspace (spec 4.1). Avatar and cover are
// empty where the face's default pictures stand in.
func (s *Store) Account(ctx context.Context, a people.Actor) (countersign.Account, error) {
	if err := may(a, readWorkspace); err != nil {
		return countersign.Account{}, err
	}
	key := accountKey(a.Workspace)
	kept, found, since := s.responses.others.Find(key)
	if found {
		return kept.(*cachedAccount).Account, nil
	}
	w, err := s.db.WorkspaceByID(ctx, a.Workspace)
	if err != nil {
		return countersign.Account{}, err
	}
	account := withFullName(w).Account
	s.responses.store(key, &cachedAccount{account}, since)
	return account, nil
}

// withFullName fills in the name that is made of the two others.
func withFullName(w Workspace) Workspace {
	n := &w.Account.Name
	switch {
	case n.Firstname == "":
		n.FullName = n.Lastname
	case n.Lastname == "":
		n.FullName = n.Firstname
	default:
		n.FullName = n.Firstname + " " + n.Lastname
	}
	return w
}

// Workspaces lists all workspaces by username.
func (s *Store) Workspaces(ctx context.Context, a people.Actor) ([]Workspace, error) {
	if err := may(a, manage); err != nil {
		return nil, err
	}
	list, err := s.db.Workspaces(ctx)
	for i := range list {
		list[i] = withFullName(list[i])
	}
	return list, err
}

// Workspace reads one by its username.
func (s *Store) Workspace(ctx context.Context, a people.Actor, username string) (Workspace, error) {
	if err := may(a, manage); err != nil {
		return Workspace{}, err
	}
	w, err := s.db.Workspace(ctx, username)
	return withFullName(w), sqldb.IfNotFound(err, noWorkspace(username))
}

func noWorkspace(username string) *countersign.Error {
	return fault.NotFound("workspace_not_found", fmt.Sprintf("There is no workspace %q", username))
}

// CreateWorkspace makes a workspace. A zero registration time means now.
func (s *Store) CreateWorkspace(ctx context.Context, a people.Actor, w Workspace) (Workspace, error) {
	if err := may(a, manage); err != nil {
		return Workspace{}, err
	}
	if w.Account.RegisteredAt.IsZero() {
		w.Account.RegisteredAt = s.timestamp()
	}
	if err := checkWorkspace(w); err != nil {
		return Workspace{}, err
	}
	username := w.Account.Username
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		err := tx.AddWorkspace(ctx, w)
		if errors.Is(err, sqldb.ErrExists) {
			return fault.Conflict("workspace_exists", fmt.Sprintf("There already is a workspace %q", username))
		}
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, a, "workspace.create", username, username, "")
	})
	if err != nil {
		return Workspace{}, err
	}
	return s.Workspace(ctx, a, username)
}

// SetWorkspace lets change alter a workspace, all but its username.
func (s *Store) SetWorkspace(ctx context.Context, a people.Actor, username string, change func(*Workspace)) (Workspace, error) {
	if err := may(a, manage); err != nil {
		return Workspace{}, err
	}
	var w Workspace
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		var err error
		if w, err = tx.LockWorkspace(ctx, username); err != nil {
			return sqldb.IfNotFound(err, noWorkspace(username))
		}
		id := w.ID
		change(&w)
		w.ID, w.Account.Username = id, username
		if err := checkWorkspace(w); err != nil {
			return err
		}
		if err := tx.UpdateWorkspace(ctx, w); err != nil {
			return err
		}
		return s.audit(ctx, tx, a, "workspace.set", username, username, "")
	})
	return withFullName(w), err
}
