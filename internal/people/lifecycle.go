package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// MayManage is an error unless an actor manages users.
func (p *People) MayManage(a Actor) error { return may(a, manage) }

// UserByID returns a user by its id; user_not_found (not found) when there is none.
func (p *People) UserByID(ctx context.Context, a Actor, id int64) (User, error) {
	if err := may(a, manage); err != nil {
		return User{}, err
	}
	u, err := p.db.User(ctx, id)
	return userOf(u), sqldb.IfNotFound(err, errNoUserID)
}

// UserNamed is [People.UserByID] for an e-mail.
func (p *People) UserNamed(ctx context.Context, a Actor, email string) (User, error) {
	if err := may(a, manage); err != nil {
		return User{}, err
	}
	email, err := keptEmail(ctx, p.db, email)
	if err != nil {
		return User{}, err
	}
	u, err := p.db.UserNamed(ctx, email)
	return userOf(u), sqldb.IfNotFound(err, errNoUser(email))
}

// LastAdministrator reports whether a user is the only active administrator with a password, whom
// [People.DeactivateUser], [People.RemoveUser] and [People.SetAdministrator] refuse to take away.
func (p *People) LastAdministrator(ctx context.Context, a Actor, u User) (bool, error) {
	if err := may(a, manage); err != nil {
		return false, err
	}
	n, err := p.db.CountActive(ctx)
	return n == 1 && u.Administrator && !u.Inactive && u.HasPassword, err
}

// RenameUser gives a user another e-mail, which is the name to sign in with from
// then on. Sessions go on. The errors are those of [People.UserByID], email_invalid
// and email_taken (conflict).
func (p *People) RenameUser(ctx context.Context, a Actor, id int64, email string) (User, error) {
	if err := may(a, manage); err != nil {
		return User{}, err
	}
	email, err := CleanEmail(email)
	if err != nil {
		return User{}, err
	}
	return p.administer(ctx, a, id, func(tx *peopledb.DB, u *peopledb.User) error {
		before := u.Email
		if before == email {
			return nil
		}
		if err := checkFree(ctx, tx, email, u.ID); err != nil {
			return err
		}
		u.Email = email
		if err := tx.UpdateUser(ctx, *u); errors.Is(err, sqldb.ErrExists) {
			return errEmailTaken(email)
		} else if err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionUserRename, Subject: email, Before: before, After: email})
	})
}

// DeactivateUser keeps a user from signing in until [People.ActivateUser].
// It ends the user's sessions, links and two-step sign-in. The errors are those of
// [People.UserByID] and last_administrator (conflict).
func (p *People) DeactivateUser(ctx context.Context, a Actor, id int64) (User, error) {
	return p.administer(ctx, a, id, func(tx *peopledb.DB, u *peopledb.User) error {
		if u.Inactive {
			return nil
		}
		ended, err := p.endAccess(ctx, tx, u)
		if err != nil {
			return err
		}
		u.Inactive = true
		if err := tx.UpdateUser(ctx, *u); err != nil {
			return err
		}
		if err := wantActive(ctx, tx, *u); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionUserDeactivate, Subject: u.Email, Detail: endedText(ended), Before: "active", After: "inactive"})
	})
}

// ActivateUser lets a user sign in again, with the same password and without
// two-step sign-in. The errors are those of [People.UserByID].
func (p *People) ActivateUser(ctx context.Context, a Actor, id int64) (User, error) {
	return p.administer(ctx, a, id, func(tx *peopledb.DB, u *peopledb.User) error {
		if !u.Inactive {
			return nil
		}
		u.Inactive = false
		if err := tx.UpdateUser(ctx, *u); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionUserActivate, Subject: u.Email, Before: "inactive", After: "active"})
	})
}

// SetAdministrator makes a user an administrator, or takes those rights away. Sessions and roles
// in workspaces stay. The errors are those of [People.DeactivateUser] and all_administrators
// (conflict) for a database without roles.
func (p *People) SetAdministrator(ctx context.Context, a Actor, id int64, administrator bool) (User, error) {
	return p.administer(ctx, a, id, func(tx *peopledb.DB, u *peopledb.User) error {
		if !tx.HasRoles() {
			return errAllAdministrators
		}
		if u.Administrator == administrator {
			return nil
		}
		was := *u
		u.Administrator = administrator
		action, write := actionUserPromote, tx.AddAdministrator
		if !administrator {
			action, write = actionUserDemote, tx.DeleteAdministrator
		}
		if err := write(ctx, u.ID); err != nil {
			return err
		}
		if err := wantActive(ctx, tx, was); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: action, Subject: u.Email})
	})
}

// RemoveUser removes a user with everything that lets it sign in. Entries of the
// audit log keep its e-mail. It returns the user as it was. The errors are those of
// [People.DeactivateUser].
func (p *People) RemoveUser(ctx context.Context, a Actor, id int64) (User, error) {
	return p.administer(ctx, a, id, func(tx *peopledb.DB, u *peopledb.User) error {
		ended, err := p.endAccess(ctx, tx, u)
		if err != nil {
			return err
		}
		if err := tx.DeleteUser(ctx, u.ID, p.stamp()); err != nil {
			return err
		}
		if err := wantActive(ctx, tx, *u); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionUserRemove, Subject: u.Email, Detail: endedText(ended)})
	})
}

// administer runs an act of an actor on a user, in one transaction in which nobody else
// changes any user. An actor who was removed, deactivated or demoted meanwhile is refused.
func (p *People) administer(ctx context.Context, a Actor, id int64, fn func(*peopledb.DB, *peopledb.User) error) (User, error) {
	if err := may(a, manage); err != nil {
		return User{}, err
	}
	var u peopledb.User
	err := p.db.Tx(ctx, func(tx *peopledb.DB) error {
		if err := tx.LockUsers(ctx); err != nil {
			return err
		}
		if a.Kind == KindUser {
			actor, err := tx.User(ctx, a.User)
			if err == nil && (actor.Inactive || !actor.Administrator) {
				err = sqldb.ErrNotFound
			}
			if err != nil {
				return sqldb.IfNotFound(err, errUserGone)
			}
		}
		var err error
		if u, err = tx.User(ctx, id); err != nil {
			return sqldb.IfNotFound(err, errNoUserID)
		}
		return fn(tx, &u)
	})
	return userOf(u), err
}

// endAccess ends all that lets u in beside the password, and returns how many sessions
// that ended. The caller writes u.
func (p *People) endAccess(ctx context.Context, tx *peopledb.DB, u *peopledb.User) (ended int64, err error) {
	if err := p.removeTOTP(ctx, tx, u); err != nil {
		return 0, err
	}
	u.TOTPPending = nil
	if err := tx.DeleteLinksOf(ctx, u.ID); err != nil {
		return 0, err
	}
	return p.endOthers(ctx, tx, u, 0)
}

// wantActive refuses a change of an administrator after which no other one could sign in. It
// comes after the change, in the transaction of [People.administer].
func wantActive(ctx context.Context, tx *peopledb.DB, u peopledb.User) error {
	if !u.Administrator {
		return nil
	}
	n, err := tx.CountActive(ctx)
	if err == nil && n == 0 {
		err = errLastAdministrator
	}
	return err
}

var (
	errLastAdministrator = fault.Conflict("last_administrator", "Nobody else could sign in: this is the last active administrator with a password. Nothing was changed")
	errAllAdministrators = fault.Conflict("all_administrators", "Every user is an administrator here. Nothing was changed")
	errNoUserID          = fault.NotFound("user_not_found", "This user does not exist, or was removed")
)

const codeTaken = "email_taken"

func errEmailTaken(email string) error {
	return fault.Conflict(codeTaken, fmt.Sprintf("A user with the e-mail %s already exists. Sign in with it, or use another e-mail", email))
}
