package peopledb

import (
	"context"
	"embed"

	"github.com/countersign/countersign/internal/sqldb"
)

//go:embed roles/*.sql
var rolesFiles embed.FS

// Roles is the migrations of a database some of whose users are no administrators. It
// comes after [Schema]. Without it every user is one.
var Roles = sqldb.Schema{Name: "roles", Folder: "roles", Files: rolesFiles}

// HasRoles reports whether users of the database may be no administrators.
func (d *DB) HasRoles() bool { return d.Queries.DB().Has(Roles.Name) }

// isAdministrator is the condition that the user in a row u is an administrator.
func (d *DB) isAdministrator() string {
	if !d.HasRoles() {
		return "true"
	}
	return "EXISTS (SELECT 1 FROM administrators a WHERE a.user_id = u.id)"
}

// AddAdministrator makes a user an administrator.
func (d *DB) AddAdministrator(ctx context.Context, user int64) error {
	if !d.HasRoles() {
		return nil
	}
	return d.Run(ctx, `INSERT INTO administrators (user_id) VALUES ($1)`, user)
}

// DeleteAdministrator is the reverse.
func (d *DB) DeleteAdministrator(ctx context.Context, user int64) error {
	if !d.HasRoles() {
		return nil
	}
	return d.Run(ctx, `DELETE FROM administrators WHERE user_id = $1`, user)
}

// CountAdministrators returns the number of users who are administrators.
func (d *DB) CountAdministrators(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM users u WHERE `+d.isAdministrator())
}
