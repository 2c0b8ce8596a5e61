package people

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// CreateAdministrator creates a user without a link: for the operator, and for a
// server that is told of its first administrator by its environment. The errors
// of a wrong e-mail or password have codes that begin with "email_" and
// "password_".
func (p *People) CreateAdministrator(ctx context.Context, a Actor, email, password string) (User, error) {
	if err := may(a, manage); err != nil {
		return User{}, err
	}
	email, hash, err := p.hashNew(ctx, wholeQueue, email, password)
	if err != nil {
		return User{}, err
	}
	var u peopledb.User
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		n, err := tx.CountAdministrators(ctx)
		if err != nil {
			return err
		}
		if u, err = p.addUser(ctx, tx, peopledb.User{Email: email, Password: hash, First: n == 0, Administrator: true}); err != nil {
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
func (p *People) addUser(ctx context.Context, tx *peopledb.DB, u peopledb.User) (peopledb.User, error) {
	u.Generation, u.CreatedAt, u.PasswordAt = 1, p.stamp(), p.stamp()
	if err := checkFree(ctx, tx, u.Email, 0); err != nil && !u.First {
		return u, err
	}
	id, err := tx.AddUser(ctx, u)
	u.ID = id
	if !errors.Is(err, sqldb.ErrExists) {
		return u, err
	}
	if u.First {
		return u, errAlreadySetUp
	}
	return u, errEmailTaken(u.Email)
}

// ResetPassword sets a new password of a user for the operator, and ends all of
// the user's sessions. removeTOTP also ends two-step sign-in.
func (p *People) ResetPassword(ctx context.Context, a Actor, email, password string, removeTOTP bool) error {
	if err := may(a, operate); err != nil {
		return err
	}
	email, err := keptEmail(ctx, p.db, email)
	if err != nil {
		return err
	}
	found, err := p.db.UserNamed(ctx, email)
	if err != nil {
		return sqldb.IfNotFound(err, errNoUser(email))
	}
	hash, err := p.hashFor(ctx, email, password)
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

var errAlreadySetUp = fault.Conflict("already_set_up", "The first administrator already exists. Sign in instead")
