package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// Grant is a membership that somebody gave a user by hand.
type Grant struct {
	ID        int64
	UserID    string
	PackageID int64
	Reason    string
	GrantedBy string
	CreatedAt sqldb.Time
	EndsAt    sqldb.Time // zero: no end
	EndedBy   string
	EndedAt   sqldb.Time // zero: it was not ended early
	// Rank is the package's, -1 for a package that was removed; read only.
	Rank int64
}

const selectGrants = `SELECT g.id, g.user_id, g.package_id, g.reason, g.granted_by, g.created_at, g.ends_at, g.ended_by, g.ended_at, coalesce(k.rank, -1)
	FROM grants g LEFT JOIN packages k ON k.id = g.package_id `

func scanGrant(r sqldb.Row) (g Grant, err error) {
	err = r.Scan(&g.ID, &g.UserID, &g.PackageID, &g.Reason, &g.GrantedBy, &g.CreatedAt, &g.EndsAt, &g.EndedBy, &g.EndedAt, &g.Rank)
	return g, err
}

// Grants lists a user's, newest first.
func (d *DB) Grants(ctx context.Context, user string) ([]Grant, error) {
	return sqldb.List(ctx, d.Queries, scanGrant, selectGrants+`WHERE g.user_id = $1 ORDER BY g.id DESC`, user)
}

// Grant reads one of a user.
func (d *DB) Grant(ctx context.Context, user string, id int64) (Grant, error) {
	return sqldb.One(ctx, d.Queries, scanGrant, selectGrants+`WHERE g.user_id = $1 AND g.id = $2`, user, id)
}

// GrantUser reads whose a grant is.
func (d *DB) GrantUser(ctx context.Context, id int64) (user string, err error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[string], `SELECT user_id FROM grants WHERE id = $1`, id)
}

// MoveGrants moves the grants of a user to another one, and returns how many there were.
func (d *DB) MoveGrants(ctx context.Context, from, to string) (moved int64, err error) {
	return d.Exec(ctx, `UPDATE grants SET user_id = $2 WHERE user_id = $1`, from, to)
}

// DeleteGrants deletes the grants of a user, and returns how many there were.
func (d *DB) DeleteGrants(ctx context.Context, user string) (deleted int64, err error) {
	return d.Exec(ctx, `DELETE FROM grants WHERE user_id = $1`, user)
}

// AddGrant writes one and returns its id.
func (d *DB) AddGrant(ctx context.Context, g Grant) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO grants (user_id, package_id, reason, granted_by, created_at, ends_at, ended_by)
		VALUES ($1, $2, $3, $4, $5, $6, '') RETURNING id`, g.UserID, g.PackageID, g.Reason, g.GrantedBy, g.CreatedAt, g.EndsAt)
}

// EndGrant ends one early.
func (d *DB) EndGrant(ctx context.Context, id int64, by string, at sqldb.Time) error {
	return d.Run(ctx, `UPDATE grants SET ended_by = $1, ended_at = $2 WHERE id = $3`, by, at, id)
}
