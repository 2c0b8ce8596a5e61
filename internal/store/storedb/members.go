package storedb

import (
	"context"

	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// Role is what a member may do in a workspace.
type Role string

// The roles, from the least.
const (
	// RoleViewer reads everything but the e-mail addresses of buyers.
	RoleViewer Role = "viewer"
	// RoleManager also works on items, purchases and licenses.
	RoleManager Role = "manager"
	// RoleOwner also works on keys, members and settings.
	RoleOwner Role = "owner"
)

// Member is a user with a role in a workspace.
type Member struct {
	User     int64
	Email    string
	Inactive bool // may not sign in
	Role     Role
	Since    sqldb.Time
}

const selectMembers = `SELECT m.user_id, u.email, ` + peopledb.IsInactive + `, m.role, m.since
	FROM members m JOIN users u ON u.id = m.user_id `

func scanMember(r sqldb.Row) (m Member, err error) {
	err = r.Scan(&m.User, &m.Email, &m.Inactive, &m.Role, &m.Since)
	return m, err
}

// Members lists the members of a workspace by e-mail.
func (d *DB) Members(ctx context.Context, workspace int64) ([]Member, error) {
	return sqldb.List(ctx, d.Queries, scanMember, selectMembers+`WHERE m.workspace_id = $1 ORDER BY u.email`, workspace)
}

// Member reads the membership of a user in a workspace.
func (d *DB) Member(ctx context.Context, workspace, user int64) (Member, error) {
	return sqldb.One(ctx, d.Queries, scanMember, selectMembers+`WHERE m.workspace_id = $1 AND m.user_id = $2`, workspace, user)
}

// SetMember writes the role of a user in a workspace.
func (d *DB) SetMember(ctx context.Context, workspace int64, m Member) error {
	return d.Run(ctx, `INSERT INTO members (workspace_id, user_id, role, since) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role`, workspace, m.User, string(m.Role), m.Since)
}

// DeleteMember ends the membership of a user in a workspace.
func (d *DB) DeleteMember(ctx context.Context, workspace, user int64) error {
	return d.Run(ctx, `DELETE FROM members WHERE workspace_id = $1 AND user_id = $2`, workspace, user)
}

// WorkspaceRole is a workspace with the role that a user has in it.
type WorkspaceRole struct {
	Workspace
	Role Role
}

// WorkspacesOf lists the workspaces in which a user has a role, by username.
func (d *DB) WorkspacesOf(ctx context.Context, user int64) ([]WorkspaceRole, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (w WorkspaceRole, err error) {
		w.Workspace, err = scanWorkspaceAnd(r, &w.Role)
		return w, err
	}, `SELECT w.id, `+workspaceColumns+`, m.role FROM members m JOIN workspaces w ON w.id = m.workspace_id WHERE m.user_id = $1 ORDER BY w.username`, user)
}

// Membership is the role of a user in a workspace, by its username.
type Membership struct {
	User      int64
	Workspace string
	Role      Role
}

// Memberships lists the memberships of all users, by username of the workspace.
func (d *DB) Memberships(ctx context.Context) ([]Membership, error) {
	return sqldb.List(ctx, d.Queries, func(r sqldb.Row) (m Membership, err error) {
		err = r.Scan(&m.User, &m.Workspace, &m.Role)
		return m, err
	}, `SELECT m.user_id, w.username, m.role FROM members m JOIN workspaces w ON w.id = m.workspace_id ORDER BY w.username, m.user_id`)
}
