package store

import (
	"context"
	"errors"
	"fmt"

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
	if err := access.May(a, access.Manage); err != nil {
		return nil, err
	}
	list, err := s.db.Workspaces(ctx)
	for i := range list {
		list[i] = rules.WithFullName(list[i])
	}
	return list, err
}

// Workspace reads one by its username.
func (s *Store) Workspace(ctx context.Context, a people.Actor, username string) (Workspace, error) {
	w, err := access.Workspace(ctx, s.db, a, username)
	return rules.WithFullName(w), err
}

// CreateWorkspace creates a workspace. A zero registration time means now.
func (s *Store) CreateWorkspace(ctx context.Context, a people.Actor, w Workspace) (Workspace, error) {
	if err := access.May(a, access.Manage); err != nil {
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
		err := tx.AddWorkspace(ctx, w)
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
	if err := access.May(a, access.Manage); err != nil {
		return Workspace{}, err
	}
	var w Workspace
	err := s.db.Tx(ctx, func(tx *storedb.DB) (err error) {
		if w, err = tx.LockWorkspace(ctx, username); err != nil {
			return sqldb.IfNotFound(err, access.NoWorkspace(username))
		}
		id := w.ID
		change(&w)
		w.ID, w.Account.Username = id, username
		if err := rules.CheckWorkspace(w); err != nil {
			return err
		}
		if err := tx.UpdateWorkspace(ctx, w); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionSetWorkspace, Workspace: username, Subject: username})
	})
	return rules.WithFullName(w), err
}
