package people

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// User is somebody who may sign in. Every user is an administrator.
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
	CreatedAt     time.Time
	PasswordAt    time.Time // when the password was set
	SignedInAt    time.Time // zero: never
}

func userOf(u peopledb.User) User {
	return User{
		ID: u.ID, Email: u.Email, Generation: u.Generation, TOTP: u.TOTP != nil, RecoveryCodes: u.RecoveryCodes,
		CreatedAt: u.CreatedAt.Time, PasswordAt: u.PasswordAt.Time, SignedInAt: u.SignedInAt.Time,
	}
}

// Actor is the user as somebody who acts on a page.
func (u User) Actor(from Origin) Actor {
	return Actor{Kind: KindUser, ID: u.Email, User: u.ID, Face: FacePage, Addr: from.Addr}
}

// userKey names a user where failures are counted.
func userKey(id int64) string { return strconv.FormatInt(id, 10) }

// Users lists all users by e-mail.
func (p *People) Users(ctx context.Context, a Actor) ([]User, error) {
	if err := may(a, manage); err != nil {
		return nil, err
	}
	list, err := p.db.Users(ctx)
	users := make([]User, len(list))
	for i, u := range list {
		users[i] = userOf(u)
	}
	return users, err
}

// HasAdministrator reports whether the first administrator was made. It is public:
// the pages lead to set-up help until then.
func (p *People) HasAdministrator(ctx context.Context) (bool, error) {
	n, err := p.db.CountUsers(ctx)
	return n > 0, err
}

// CreateAdministrator makes a user without a link: for the operator, and for a
// server that is told of its first administrator by its environment. The errors
// of a wrong e-mail or password have codes that begin with "email_" and
// "password_".
func (p *People) CreateAdministrator(ctx context.Context, a Actor, email, password string) (User, error) {
	if err := may(a, manage); err != nil {
		return User{}, err
	}
	email, err := foldEmail(email)
	if err != nil {
		return User{}, err
	}
	hash, err := p.hashNew(ctx, email, password)
	if err != nil {
		return User{}, err
	}
	var u peopledb.User
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		n, err := tx.CountUsers(ctx)
		if err != nil {
			return err
		}
		if u, err = p.addUser(ctx, tx, email, hash, n == 0); err != nil {
			return err
		}
		if err := tx.DeleteLinks(ctx, peopledb.PurposeSetup); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionUserCreate, Subject: u.Email})
	})
	return userOf(u), err
}

// addUser writes a new user. Of two first ones at once, the second is a conflict.
func (p *People) addUser(ctx context.Context, tx *peopledb.DB, email, hash string, first bool) (peopledb.User, error) {
	u := peopledb.User{Email: email, Password: hash, Generation: 1, First: first, CreatedAt: p.stamp(), PasswordAt: p.stamp()}
	id, err := tx.AddUser(ctx, u)
	u.ID = id
	if !errors.Is(err, sqldb.ErrExists) {
		return u, err
	}
	if first {
		return u, errAlreadySetUp
	}
	return u, fault.Conflict("email_taken", fmt.Sprintf("There is a user with the e-mail %s already; sign in with it, or give another one", email))
}

// ResetPassword gives a user a new password for the operator, and ends all of
// the user's sessions. removeTOTP also ends two-step sign-in.
func (p *People) ResetPassword(ctx context.Context, a Actor, email, password string, removeTOTP bool) error {
	if err := may(a, operate); err != nil {
		return err
	}
	email, err := foldEmail(email)
	if err != nil {
		return err
	}
	found, err := p.db.UserNamed(ctx, email)
	if err != nil {
		return sqldb.IfNotFound(err, errNoUser(email))
	}
	hash, err := p.hashNew(ctx, email, password)
	if err != nil {
		return err
	}
	return p.db.Tx(ctx, func(tx *peopledb.DB) error {
		u, err := tx.LockUser(ctx, found.ID)
		if err != nil {
			return err
		}
		ended, err := p.setPassword(ctx, tx, &u, hash, 0)
		if err != nil {
			return err
		}
		detail := endedText(ended)
		if removeTOTP && u.TOTP != nil {
			detail += "; two-step sign-in removed"
			if err := p.removeTOTP(ctx, tx, &u); err != nil {
				return err
			}
		}
		if err := tx.UpdateUser(ctx, u); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionPasswordReset, Subject: u.Email, Detail: detail})
	})
}

func errNoUser(email string) error {
	return fault.NotFound("user_not_found", fmt.Sprintf("No user with the e-mail %s; check its spelling", email))
}

// endedText says for the audit log how many sessions an act has ended.
func endedText(n int64) string {
	if n == 1 {
		return "1 session ended"
	}
	return fmt.Sprintf("%d sessions ended", n)
}
