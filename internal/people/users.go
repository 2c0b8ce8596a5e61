package people

import (
	"context"
	"time"

	"github.com/countersign/countersign"
)

var errNotBuilt = &countersign.Error{Kind: countersign.KindInternal, Message: "not built"}

// User is somebody who may sign in. Every user is an administrator.
type User struct {
	ID    int64
	Email string
	// Generation counts what ended all of the user's sessions at once. A session
	// that was begun under an earlier one is over; see [SavedSession].
	Generation int64
	// TOTP tells whether signing in asks for a code, and RecoveryCodes how many
	// of these are left.
	TOTP          bool
	RecoveryCodes int64
	CreatedAt     time.Time
	PasswordAt    time.Time // when the password was set
	SignedInAt    time.Time // zero: never
}

// Actor is the user as somebody who acts on a page.
func (u User) Actor(from Origin) Actor {
	return Actor{Kind: KindUser, ID: u.Email, User: u.ID, Face: FacePage, Addr: from.Addr}
}

// Users lists all users by e-mail.
func (p *People) Users(ctx context.Context, a Actor) ([]User, error) { return nil, errNotBuilt }

// HasAdministrator tells whether the first administrator was made. It is public:
// the pages lead to set-up help until then.
func (p *People) HasAdministrator(ctx context.Context) (bool, error) { return false, errNotBuilt }

// CreateAdministrator makes a user without a link: for the operator, and for a
// server that is told of its first administrator by its environment. The errors
// of a wrong e-mail or password have codes that begin with "email_" and
// "password_".
func (p *People) CreateAdministrator(ctx context.Context, a Actor, email, password string) (User, error) {
	return User{}, errNotBuilt
}

// ResetPassword gives a user a new password for the operator, and ends all of
// the user's sessions. removeTOTP also ends two-step sign-in.
func (p *People) ResetPassword(ctx context.Context, a Actor, email, password string, removeTOTP bool) error {
	return errNotBuilt
}
