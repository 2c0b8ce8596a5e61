package storedb

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

// Workspace is an author's account and its switches. Avatar and cover are empty
// where the store's default pictures stand in.
type Workspace struct {
	ID       int64
	Account  countersign.Account
	Switches Switches
}

// Switches are what a workspace chooses for its programs.
type Switches struct {
	// Always200 answers errors of 4xx with status 200.
	Always200 bool `json:"always_200"`
	// RefuseQueryKeys refuses an api_key in the query string.
	RefuseQueryKeys bool `json:"refuse_query_keys"`
	// Quota is how many successful calls a minute are served, 0 for all.
	Quota int64 `json:"quota"`
}

const workspaceColumns = `username, firstname, lastname, email, balance, currency, heading, description,
	contact_email, social_links, avatar, cover, registered_at, always_200, refuse_query_keys, quota`

func workspaceArgs(w Workspace) []any {
	a, p := w.Account, w.Account.Profile
	return []any{
		a.Username, a.Name.Firstname, a.Name.Lastname, a.Email, int64(a.Balance), a.Currency, p.Heading, p.Description,
		p.Contact.Email, sqldb.JSON[countersign.Links]{V: p.SocialLinks}, p.Media.Avatar, p.Media.Cover,
		column(&a.RegisteredAt), w.Switches.Always200, w.Switches.RefuseQueryKeys, w.Switches.Quota,
	}
}

func scanWorkspace(r sqldb.Row) (Workspace, error) { return scanWorkspaceAnd(r) }

// scanWorkspaceAnd also scans the columns behind those of the workspace.
func scanWorkspaceAnd(r sqldb.Row, more ...any) (w Workspace, err error) {
	a, p := &w.Account, &w.Account.Profile
	err = r.Scan(append([]any{&w.ID, &a.Username, &a.Name.Firstname, &a.Name.Lastname, &a.Email, (*int64)(&a.Balance), &a.Currency,
		&p.Heading, &p.Description, &p.Contact.Email, sqldb.JSONInto(&p.SocialLinks), &p.Media.Avatar, &p.Media.Cover, column(&a.RegisteredAt),
		&w.Switches.Always200, &w.Switches.RefuseQueryKeys, &w.Switches.Quota}, more...)...)
	return w, err
}

// Workspaces lists all workspaces by username.
func (d *DB) Workspaces(ctx context.Context) ([]Workspace, error) {
	return sqldb.List(ctx, d.Queries, scanWorkspace, `SELECT id, `+workspaceColumns+` FROM workspaces ORDER BY username`)
}

// Workspace reads one by its username. Text that can't be stored names none.
func (d *DB) Workspace(ctx context.Context, username string) (Workspace, error) {
	if strings.ContainsRune(username, 0) || !utf8.ValidString(username) {
		return Workspace{}, sqldb.ErrNotFound
	}
	return sqldb.One(ctx, d.Queries, scanWorkspace, `SELECT id, `+workspaceColumns+` FROM workspaces WHERE username = $1`, username)
}

// WorkspaceAlike returns the username of a workspace that differs from a new one at most in letter case.
func (d *DB) WorkspaceAlike(ctx context.Context, username string) (string, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[string], `SELECT username FROM workspaces WHERE lower(username) = lower($1) ORDER BY username LIMIT 1`, username)
}

// LockWorkspace reads one by its username and makes others who would change it
// wait until the transaction ends.
func (d *DB) LockWorkspace(ctx context.Context, username string) (Workspace, error) {
	return sqldb.Locked(ctx, d.Queries, "workspaces", "username", username, d.Workspace)
}

// WorkspaceByID reads one by its id.
func (d *DB) WorkspaceByID(ctx context.Context, id int64) (Workspace, error) {
	return sqldb.One(ctx, d.Queries, scanWorkspace, `SELECT id, `+workspaceColumns+` FROM workspaces WHERE id = $1`, id)
}

// AddWorkspace writes a new one; [sqldb.ErrExists] when the username is taken.
func (d *DB) AddWorkspace(ctx context.Context, w Workspace) error {
	return d.Run(ctx, `INSERT INTO workspaces (`+workspaceColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`, workspaceArgs(w)...)
}

// UpdateWorkspace writes everything but the username, found by the id.
func (d *DB) UpdateWorkspace(ctx context.Context, w Workspace) error {
	// The switches of a workspace are held with its keys.
	for _, topic := range []string{TopicKeys, TopicWorkspaces} {
		if err := d.Mark(ctx, topic, ""); err != nil {
			return err
		}
	}
	return d.Run(ctx, `UPDATE workspaces SET username = $1, firstname = $2, lastname = $3, email = $4, balance = $5,
		currency = $6, heading = $7, description = $8, contact_email = $9, social_links = $10, avatar = $11, cover = $12,
		registered_at = $13, always_200 = $14, refuse_query_keys = $15, quota = $16 WHERE id = $17`,
		append(workspaceArgs(w), w.ID)...)
}
