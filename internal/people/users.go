package people

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// User is somebody who may sign in.
type User struct {
	ID    int64
	Email string
	// Generation counts what ended all of the user's sessions at once. A session
	// that was begun under an earlier one is over; see [SavedSession].
	Generation int64
	// TOTP reports whether signing in asks for a code, and RecoveryCodes how many
	// of these are left.
	TOTP          bool
	RecoveryCodes int64
	// Inactive reports that the user may not sign in, and HasPassword that one was chosen.
	Inactive, HasPassword bool
	// Administrator reports that the user may do everything. In a database without roles
	// ([peopledb.Roles]) that is every user.
	Administrator bool
	CreatedAt     time.Time
	PasswordAt    time.Time // when the password was set
	SignedInAt    time.Time // zero: never
}

func userOf(u peopledb.User) User {
	return User{
		ID: u.ID, Email: u.Email, Generation: u.Generation, TOTP: u.TOTP != nil, RecoveryCodes: u.RecoveryCodes,
		Inactive: u.Inactive, HasPassword: u.Password != "", Administrator: u.Administrator,
		CreatedAt: u.CreatedAt.Time, PasswordAt: u.PasswordAt.Time, SignedInAt: u.SignedInAt.Time,
	}
}

// Actor is the user as somebody who acts on a page.
func (u User) Actor(from Origin) Actor {
	return Actor{Kind: KindUser, ID: u.Email, User: u.ID, Administrator: u.Administrator, FrontEnd: FrontEndPage, Addr: from.Addr}
}

// userKey names a user where failures are counted.
func userKey(id int64) string { return strconv.FormatInt(id, 10) }

// Users lists all users by e-mail.
func (p *People) Users(ctx context.Context, a Actor) ([]User, error) {
	if err := may(a, manage); err != nil {
		return nil, err
	}
	list, err := p.db.Users(ctx)
	return sqldb.Convert(list, userOf), err
}

// HasAdministrator reports whether the first administrator was made. It is public:
// the pages lead to set-up help until then.
func (p *People) HasAdministrator(ctx context.Context) (bool, error) {
	n, err := p.db.CountAdministrators(ctx)
	return n > 0, err
}

func errNoUser(email string) error {
	return fault.NotFound("user_not_found", fmt.Sprintf("No user with the e-mail %s; check its spelling", email))
}
