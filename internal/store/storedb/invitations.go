package storedb

import (
	"context"

	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// Invitation is an offer of a role in a workspace to whoever has its token.
type Invitation struct {
	ID        string // names it; not its token
	Digest    string // SHA-256 of the token, in hex
	Workspace int64
	Role      Role
	// Email is for whom it was made, as the members of the workspace know the person.
	Email     string
	InvitedBy string
	// Inviter is the id of the user who invited, 0 for the operator.
	Inviter   int64
	CreatedAt sqldb.Time
	ExpiresAt sqldb.Time
}

const invitationColumns = `id, digest, workspace_id, role, email, invited_by, coalesce(inviter, 0), created_at, expires_at`

// mayInvite is the condition that the inviter of an invitation could still make it: the
// operator, or an active user who is an administrator or an owner of the workspace.
const mayInvite = `(inviter IS NULL OR EXISTS (SELECT 1 FROM users u WHERE u.id = inviter AND NOT ` + peopledb.IsInactive + ` AND (
	EXISTS (SELECT 1 FROM administrators a WHERE a.user_id = u.id) OR
	EXISTS (SELECT 1 FROM members m WHERE m.user_id = u.id AND m.workspace_id = invitations.workspace_id AND m.role = '` + string(RoleOwner) + `'))))`

func scanInvitation(r sqldb.Row) (i Invitation, err error) {
	err = r.Scan(&i.ID, &i.Digest, &i.Workspace, &i.Role, &i.Email, &i.InvitedBy, &i.Inviter, &i.CreatedAt, &i.ExpiresAt)
	return i, err
}

// Invitations lists the open invitations to a workspace whose inviters may still invite, the
// newest first.
func (d *DB) Invitations(ctx context.Context, workspace int64, now sqldb.Time) ([]Invitation, error) {
	return sqldb.List(ctx, d.Queries, scanInvitation,
		`SELECT `+invitationColumns+` FROM invitations WHERE workspace_id = $1 AND expires_at > $2 AND `+mayInvite+` ORDER BY created_at DESC, id`, workspace, now)
}

// Invitation reads one by the digest of its token, also one that has expired. One whose inviter
// may no longer invite is not found.
func (d *DB) Invitation(ctx context.Context, digest string) (Invitation, error) {
	return sqldb.One(ctx, d.Queries, scanInvitation, `SELECT `+invitationColumns+` FROM invitations WHERE digest = $1 AND `+mayInvite, digest)
}

// TakeInvitation removes one that has not expired and whose inviter may still invite, and
// returns it. Of two at once, one is served.
func (d *DB) TakeInvitation(ctx context.Context, digest string, now sqldb.Time) (Invitation, error) {
	return sqldb.One(ctx, d.Queries, scanInvitation,
		`DELETE FROM invitations WHERE digest = $1 AND expires_at > $2 AND `+mayInvite+` RETURNING `+invitationColumns, digest, now)
}

// AddInvitation writes a new one.
func (d *DB) AddInvitation(ctx context.Context, i Invitation) error {
	return d.Run(ctx, `INSERT INTO invitations (id, digest, workspace_id, role, email, invited_by, inviter, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, nullif($7, 0), $8, $9)`,
		i.ID, i.Digest, i.Workspace, string(i.Role), i.Email, i.InvitedBy, i.Inviter, i.CreatedAt, i.ExpiresAt)
}

// DeleteInvitation withdraws an invitation to a workspace; [sqldb.ErrNotFound] when there
// is none.
func (d *DB) DeleteInvitation(ctx context.Context, workspace int64, id string) (Invitation, error) {
	return sqldb.One(ctx, d.Queries, scanInvitation,
		`DELETE FROM invitations WHERE workspace_id = $1 AND id = $2 RETURNING `+invitationColumns, workspace, id)
}

// DeleteVoidInvitations removes those to a workspace whose inviters may no longer invite.
func (d *DB) DeleteVoidInvitations(ctx context.Context, workspace int64) error {
	return d.Run(ctx, `DELETE FROM invitations WHERE workspace_id = $1 AND NOT `+mayInvite, workspace)
}

// DeleteExpiredInvitations removes those that expired before a time.
func (d *DB) DeleteExpiredInvitations(ctx context.Context, before sqldb.Time) error {
	return d.Run(ctx, `DELETE FROM invitations WHERE expires_at < $1`, before)
}
