package addondb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// PutIdentity writes whose an account id is, unless that is known. An erased user may come back.
func (d *DB) PutIdentity(ctx context.Context, account, user string, at sqldb.Time) error {
	return d.Run(ctx, `INSERT INTO identities (account_id, user_id, created_at) VALUES ($1, $2, $3) 
		ON CONFLICT (account_id) DO UPDATE SET user_id = excluded.user_id WHERE identities.user_id = ''`, account, user, at)
}

// IdentityUser reads whose an account id is, "" for that of an erased user, or returns [sqldb.ErrNotFound].
func (d *DB) IdentityUser(ctx context.Context, account string) (user string, err error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[string], `SELECT user_id FROM identities WHERE account_id = $1`, account)
}

// MoveIdentities makes the account ids of a user those of another one.
func (d *DB) MoveIdentities(ctx context.Context, from, to string) error {
	return d.Run(ctx, `UPDATE identities SET user_id = $2 WHERE user_id = $1`, from, to)
}

// ForgetIdentities takes the user from the account ids, which still were handed out here.
func (d *DB) ForgetIdentities(ctx context.Context, user string) error {
	return d.Run(ctx, `UPDATE identities SET user_id = '' WHERE user_id = $1`, user)
}
