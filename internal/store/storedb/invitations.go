package storedb

import (
	"context"

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
	CreatedAt sqldb.Time
	ExpiresAt sqldb.Time
}

const invitationColumns = `id, digest, workspace_id, role, email, invited_by, created_at, expires_at`

func scanInvitation(r sqldb.Row) (i Invitation, err error) {
	err = r.Scan(&i.ID, &i.Digest, &i.Workspace, &i.Role, &i.Email, &i.InvitedBy, &i.CreatedAt, &i.ExpiresAt)
	return i, err
}

// Invitations lists the open invitations to a workspace, the newest first.
func (d *DB) Invitations(ctx context.Context, workspace int64, now sqldb.Time) ([]Invitation, error) {
	return sqldb.List(ctx, d.Queries, scanInvitation,
		`SELECT `+invitationColumns+` FROM invitations WHERE workspace_id = $1 AND expires_at > $2 ORDER BY created_at DESC, id`, workspace, now)
}

// Invitation reads one by the digest of its token, also one that has expired.
func (d *DB) Invitation(ctx context.Context, digest string) (Invitation, error) {
	return sqldb.One(ctx, d.Queries, scanInvitation, `SELECT `+invitationColumns+` FROM invitations WHERE digest = $1`, digest)
}

// TakeInvitation removes one that has not expired, and returns it. Of two at once, one is
// served.
func (d *DB) TakeInvitation(ctx context.Context, digest string, now sqldb.Time) (Invitation, error) {
	return sqldb.One(ctx, d.Queries, scanInvitation,
		`DELETE FROM invitations WHERE digest = $1 AND expires_at > $2 RETURNING `+invitationColumns, digest, now)
}

// AddInvitation writes a new one.
func (d *DB) AddInvitation(ctx context.Context, i Invitation) error {
	return d.Run(ctx, `INSERT INTO invitations (`+invitationColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		i.ID, i.Digest, i.Workspace, string(i.Role), i.Email, i.InvitedBy, i.CreatedAt, i.ExpiresAt)
}

// DeleteInvitation withdraws an invitation to a workspace; [sqldb.ErrNotFound] when there
// is none.
func (d *DB) DeleteInvitation(ctx context.Context, workspace int64, id string) (Invitation, error) {
	return sqldb.One(ctx, d.Queries, scanInvitation,
		`DELETE FROM invitations WHERE workspace_id = $1 AND id = $2 RETURNING `+invitationColumns, workspace, id)
}

// DeleteExpiredInvitations removes those that expired before a time.
func (d *DB) DeleteExpiredInvitations(ctx context.Context, before sqldb.Time) error {
	return d.Run(ctx, `DELETE FROM invitations WHERE expires_at < $1`, before)
}
