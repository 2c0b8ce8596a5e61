package peopledb

import (
	"context"
	"strings"

	"github.com/countersign/countersign/internal/sqldb"
)

// User is somebody who may sign in.
type User struct {
	ID    int64
	Email string // in lower case
	// Password is its argon2id hash, "" until the user has chosen one.
	Password string
	// Inactive reports that the user may not sign in.
	Inactive bool
	// Administrator reports that the user may do everything. [DB.AddUser], [DB.AddAdministrator] and
	// [DB.DeleteAdministrator] write it.
	Administrator bool
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

func (d *DB) selectUsers() string {
	return `SELECT u.id, u.email, u.password, u.generation, u.is_first, u.totp, u.totp_pending, u.totp_step, u.created_at,
	u.password_at, u.signed_in_at, ` + d.isAdministrator() + `, (SELECT count(*) FROM recovery_codes c WHERE c.user_id = u.id)
	FROM users u `
}

// inactiveMark stands before the stored password of an inactive user, as in /etc/shadow:
// no password matches it, in any version of the program. A column of its own would be
// missing in the tables of the version before, where an administrator has to sign in to
// run the update.
const inactiveMark = "!"

// IsInactive is the condition that the user in a row u may not sign in.
const IsInactive = `substr(u.password, 1, 1) = '` + inactiveMark + `'`

func scanUser(r sqldb.Row) (u User, err error) {
	var password string
	err = r.Scan(&u.ID, &u.Email, &password, &u.Generation, &u.First, &u.TOTP, &u.TOTPPending, &u.TOTPStep,
		&u.CreatedAt, &u.PasswordAt, &u.SignedInAt, &u.Administrator, &u.RecoveryCodes)
	u.Password, u.Inactive = strings.CutPrefix(password, inactiveMark)
	return u, err
}

// storedPassword is the column of [User.Password] and [User.Inactive].
func (u User) storedPassword() string {
	if u.Inactive {
		return inactiveMark + u.Password
	}
	return u.Password
}

// Users lists all by e-mail.
func (d *DB) Users(ctx context.Context) ([]User, error) {
	return sqldb.List(ctx, d.Queries, scanUser, d.selectUsers()+`ORDER BY u.email`)
}

// User reads one by its id.
func (d *DB) User(ctx context.Context, id int64) (User, error) {
	return sqldb.One(ctx, d.Queries, scanUser, d.selectUsers()+`WHERE u.id = $1`, id)
}

// UserNamed reads one by its e-mail.
func (d *DB) UserNamed(ctx context.Context, email string) (User, error) {
	return sqldb.One(ctx, d.Queries, scanUser, d.selectUsers()+`WHERE u.email = $1`, email)
}

// LockUser reads one by its id and makes others who would change it wait until
// the transaction ends.
func (d *DB) LockUser(ctx context.Context, id int64) (User, error) {
	return sqldb.Locked(ctx, d.Queries, "users", "id", id, d.User)
}

// LockUsers makes others who would change any of the users wait until the transaction
// ends.
func (d *DB) LockUsers(ctx context.Context) error {
	ids, err := sqldb.List(ctx, d.Queries, sqldb.Value[int64], `SELECT id FROM users`)
	if err != nil || len(ids) == 0 {
		return err
	}
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = id
	}
	return d.Lock(ctx, "users", "id", values...)
}

// CountActive returns the number of administrators who are active and have a password.
func (d *DB) CountActive(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, d.Queries, sqldb.Value[int64],
		`SELECT count(*) FROM users u WHERE u.password <> '' AND NOT `+IsInactive+` AND `+d.isAdministrator())
}

// AddUser writes a new one; [sqldb.ErrExists] when its e-mail is taken, or when
// it is the first and there is one.
func (d *DB) AddUser(ctx context.Context, u User) (id int64, err error) {
	if err := d.Mark(ctx, TopicUsers, ""); err != nil {
		return 0, err
	}
	id, err = sqldb.One(ctx, d.Queries, sqldb.Value[int64], `INSERT INTO users
		(email, password, generation, is_first, totp_step, created_at, password_at, signed_in_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
		u.Email, u.storedPassword(), u.Generation, u.First, u.TOTPStep, u.CreatedAt, u.PasswordAt, u.SignedInAt)
	if err != nil || !u.Administrator {
		return id, err
	}
	return id, d.AddAdministrator(ctx, id)
}

// UpdateUser writes what can change of a user, found by its id; [sqldb.ErrExists] when
// its e-mail is another user's.
func (d *DB) UpdateUser(ctx context.Context, u User) error {
	return d.Run(ctx, `UPDATE users SET email = $1, password = $2, generation = $3, totp = $4, totp_pending = $5, totp_step = $6,
		password_at = $7, signed_in_at = $8 WHERE id = $9`, u.Email, u.storedPassword(), u.Generation,
		sqldb.NullBytes(u.TOTP), sqldb.NullBytes(u.TOTPPending), u.TOTPStep, u.PasswordAt, u.SignedInAt, u.ID)
}

// DeleteUser removes a user with its links and recovery codes. Its sessions end and stay
// as rows of nobody until they expire.
func (d *DB) DeleteUser(ctx context.Context, id int64, at sqldb.Time) error {
	// A change of the unique e-mail takes PostgreSQL's lock of a deletion: from here on
	// nobody else can add a row that refers to the user.
	if err := d.Run(ctx, `UPDATE users SET email = email || $1 WHERE id = $2`, " removed", id); err != nil {
		return err
	}
	if err := d.Run(ctx, `UPDATE sessions SET user_id = NULL, ended_at = coalesce(ended_at, $1), data = $2 WHERE user_id = $3`, at, []byte{}, id); err != nil {
		return err
	}
	if err := d.DeleteLinksOf(ctx, id); err != nil {
		return err
	}
	if err := d.DeleteRecoveryCodes(ctx, id); err != nil {
		return err
	}
	if err := d.DeleteAdministrator(ctx, id); err != nil {
		return err
	}
	return d.Run(ctx, `DELETE FROM users WHERE id = $1`, id)
}
