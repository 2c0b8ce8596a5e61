package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Member is a user with a role in a workspace, and Role what it may do there.
type (
	Member = storedb.Member
	Role   = storedb.Role
)

// The roles, from the least.
const (
	RoleViewer  = storedb.RoleViewer
	RoleManager = storedb.RoleManager
	RoleOwner   = storedb.RoleOwner
)

// ParseRole reads the name of a role.
func ParseRole(name string) (Role, error) {
	switch r := Role(name); r {
	case RoleViewer, RoleManager, RoleOwner:
		return r, nil
	}
	return "", fault.Invalid("role_invalid", fmt.Sprintf("%q is not a role: choose viewer, manager or owner", name))
}

// Members lists the members of a workspace by e-mail. Administrators of the store, who are
// owners of every workspace, are not among them unless they were added.
func (s *Store) Members(ctx context.Context, a people.Actor, workspace string) ([]Member, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return nil, err
	}
	return s.db.Members(ctx, w.ID)
}

// Membership is the role of a user in a workspace.
type Membership = storedb.Membership

// Memberships lists the memberships of all users, by the id of the user and there by
// workspace, for the administrators of the store.
func (s *Store) Memberships(ctx context.Context, a people.Actor) (map[int64][]Membership, error) {
	if err := access.May(a, access.Administer); err != nil {
		return nil, err
	}
	list, err := s.db.Memberships(ctx)
	of := map[int64][]Membership{}
	for _, m := range list {
		of[m.User] = append(of[m.User], m)
	}
	return of, err
}

// Member reads one member of a workspace by the id of the user.
func (s *Store) Member(ctx context.Context, a people.Actor, workspace string, user int64) (Member, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return Member{}, err
	}
	m, err := s.db.Member(ctx, w.ID, user)
	return m, sqldb.IfNotFound(err, noMember(workspace))
}

// AddMember makes an existing user a member of a workspace, for the administrators of the
// store: members add others by an invitation. A user who is one already is a conflict
// (member_exists).
func (s *Store) AddMember(ctx context.Context, a people.Actor, workspace, email string, role Role) (Member, error) {
	if err := access.May(a, access.Administer); err != nil {
		return Member{}, err
	}
	u, err := s.Instance.People.UserNamed(ctx, a, email)
	if err != nil {
		return Member{}, err
	}
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return Member{}, err
	}
	m := Member{User: u.ID, Email: u.Email, Inactive: u.Inactive, Role: role, Since: sqldb.Time{Time: s.now()}}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if err := access.Administers(ctx, tx, a); err != nil {
			return err
		}
		return s.addMember(ctx, tx, a, w, m)
	})
	return m, err
}

// addMember writes a new member and the entry of the audit log.
func (s *Store) addMember(ctx context.Context, tx *storedb.DB, a people.Actor, w Workspace, m Member) error {
	if _, err := ParseRole(string(m.Role)); err != nil {
		return err
	}
	is, err := tx.Member(ctx, w.ID, m.User)
	if err == nil {
		return fault.Conflict("member_exists", fmt.Sprintf("%s is already a member of this workspace, with the role %s", is.Email, is.Role))
	}
	if !errors.Is(err, sqldb.ErrNotFound) {
		return err
	}
	if err := tx.SetMember(ctx, w.ID, m); err != nil {
		return err
	}
	return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionAddMember, Workspace: w.Account.Username, Subject: m.Email, After: string(m.Role)})
}

// SetMember changes the role of a member. The last owner of a workspace keeps the role
// (last_owner, a conflict) unless an administrator of the store takes it.
func (s *Store) SetMember(ctx context.Context, a people.Actor, workspace string, user int64, role Role) (Member, error) {
	if _, err := ParseRole(string(role)); err != nil {
		return Member{}, err
	}
	return s.changeMember(ctx, a, workspace, user, func(tx *storedb.DB, w Workspace, m *Member) (people.Event, error) {
		e := people.Event{Action: actionSetMember, Before: string(m.Role), After: string(role)}
		if m.Role == role {
			return e, errSame
		}
		m.Role = role
		return e, tx.SetMember(ctx, w.ID, *m)
	})
}

// RemoveMember ends the membership of a user. It returns the member as it was. The errors
// are those of [Store.SetMember].
func (s *Store) RemoveMember(ctx context.Context, a people.Actor, workspace string, user int64) (Member, error) {
	return s.changeMember(ctx, a, workspace, user, func(tx *storedb.DB, w Workspace, m *Member) (people.Event, error) {
		return people.Event{Action: actionRemoveMember, Before: string(m.Role)}, tx.DeleteMember(ctx, w.ID, m.User)
	})
}

// changeMember runs an act on a member and its entry of the audit log in one transaction,
// in which nobody else changes the members of the workspace. Invitations by members who
// may no longer invite end.
func (s *Store) changeMember(ctx context.Context, a people.Actor, workspace string, user int64,
	act func(*storedb.DB, Workspace, *Member) (people.Event, error)) (Member, error) {
	var m Member
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		w, err := tx.LockWorkspace(ctx, workspace)
		if err == nil {
			err = access.In(ctx, tx, a, w.ID, access.Own, access.NoWorkspace(workspace))
		}
		if err != nil {
			return sqldb.IfNotFound(err, access.NoWorkspace(workspace))
		}
		if m, err = tx.Member(ctx, w.ID, user); err != nil {
			return sqldb.IfNotFound(err, noMember(workspace))
		}
		event, err := act(tx, w, &m)
		if err == nil {
			err = wantOwner(ctx, tx, a, w)
		}
		if err == nil {
			err = tx.DeleteVoidInvitations(ctx, w.ID)
		}
		if err != nil {
			return err
		}
		event.Workspace, event.Subject = workspace, m.Email
		return people.Record(ctx, &tx.DB, s.now(), a, event)
	})
	return m, ifChanged(err)
}

// wantOwner refuses a change by a member after which a workspace has no active owner. It
// comes after the change.
func wantOwner(ctx context.Context, tx *storedb.DB, a people.Actor, w Workspace) error {
	if access.Administers(ctx, tx, a) == nil {
		return nil
	}
	members, err := tx.Members(ctx, w.ID)
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Role == RoleOwner && !m.Inactive {
			return nil
		}
	}
	return fault.Conflict("last_owner", "Nothing was changed: this is the last owner of the workspace. Make somebody else an owner first")
}

func noMember(workspace string) error {
	return fault.NotFound("member_not_found", "This person is not a member of the workspace "+workspace)
}
