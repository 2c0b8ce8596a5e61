package peopledb

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
)

// User is somebody who may sign in.
type User struct {
	ID    int64
	Email string // in lower case
	// Password is its argon2id hash.
	Password string
	// Generation counts what ended all of the user's sessions.
	Generation int64
	// First marks the administrator who was made when there was none. At most
	// one user has it.
	First bool
	// TOTP is the sealed secret of two-step sign-in, nil while that is off;
	// TOTPPending is one that waits for its first code.
	TOTP, TOTPPending []byte
	// TOTPStep is the last time step whose code was used.
	TOTPStep      int64
	CreatedAt     sqldb.Time
	PasswordAt    sqldb.Time
	SignedInAt    sqldb.Time // zero: never
	RecoveryCodes int64      // how many are left; only read
}

const selectUsers = `SELECT u.id, u.email, u.password, u.generation, u.is_first, u.totp, u.totp_pending, u.totp_step,
	u.created_at, u.password_at, u.signed_in_at, (SELECT count(*) FROM recovery_codes c WHERE c.user_id = u.id)
	FROM users u `

func scanUser(r sqldb.Row) (u User, err error) {
	err = r.Scan(&u.ID, &u.Email, &u.Password, &u.Generation, &u.First, &u.TOTP, &u.TOTPPending, &u.TOTPStep,
		&u.CreatedAt, &u.PasswordAt, &u.SignedInAt, &u.RecoveryCodes)
	return u, err
}

// Users lists all by e-mail.
func (d *DB) Users(ctx context.Context) ([]User, error) {
	return sqldb.List(ctx, d.Queries, scanUser, selectUsers+`ORDER BY u.email`)
}

// User reads one by its id.
func (d *DB) User(ctx context.Context, id int64) (User, error) {
	return sqldb.One(ctx, d.Queries, scanUser, selectUsers+`WHERE u.id = $1`, id)
}

// UserNamed reads one by its e-mail.
func (d *DB) UserNamed(ctx context.Context, email string) (User, error) {
	return sqldb.One(ctx, d.Queries, scanUser, selectUsers+`WHERE u.email = $1`, email)
}

// LockUser reads one by its id and makes others who would change it wait until
// the transaction ends.
func (d *DB) LockUser(ctx context.Context, id int64) (User, error) {
	return sqldb.Locked(ctx, d.Queries, "users", "id", id, d.User)
}

// CountUsers returns the number of users.
func (d *DB) CountUsers(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `SELECT count(*) FROM users`)
}

// AddUser writes a new one; [sqldb.ErrExists] when its e-mail is taken, or when
// it is the first and there is one.
func (d *DB) AddUser(ctx context.Context, u User) (id int64, err error) {
	if err := d.Mark(ctx, TopicUsers, ""); err != nil {
		return 0, err
	}
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO users
		(email, password, generation, is_first, totp_step, created_at, password_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
		u.Email, u.Password, u.Generation, u.First, u.TOTPStep, u.CreatedAt, u.PasswordAt)
}

// UpdateUser writes what can change of a user, found by its id.
func (d *DB) UpdateUser(ctx context.Context, u User) error {
	return d.Run(ctx, `UPDATE users SET password = $1, generation = $2, totp = $3, totp_pending = $4, totp_step = $5,
		password_at = $6, signed_in_at = $7 WHERE id = $8`,
		u.Password, u.Generation, sqldb.NullBytes(u.TOTP), sqldb.NullBytes(u.TOTPPending), u.TOTPStep, u.PasswordAt, u.SignedInAt, u.ID)
}
