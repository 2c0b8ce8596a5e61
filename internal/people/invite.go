package people

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// inviteLife is how long the first sign-in link of a new user is valid.
const inviteLife = 24 * time.Hour

// Invitation is a one-time sign-in link for a user who has no password yet.
type Invitation struct {
	User    User
	Token   string
	Expires time.Time
}

// InviteAdministrator creates a user without a password and a sign-in link, valid for 24
// hours and one use, with which the user comes to choose one. The errors are email_invalid
// and email_taken.
func (p *People) InviteAdministrator(ctx context.Context, a Actor, email string) (Invitation, error) {
	if err := may(a, manage); err != nil {
		return Invitation{}, err
	}
	email, err := CleanEmail(email)
	if err != nil {
		return Invitation{}, err
	}
	var made Invitation
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		n, err := tx.CountAdministrators(ctx)
		if err != nil {
			return err
		}
		if n == 0 { // nobody could sign in when the link has expired
			return errNoneYet
		}
		u, err := p.addUser(ctx, tx, peopledb.User{Email: email, Administrator: true})
		if err != nil {
			return err
		}
		made, err = p.invite(ctx, tx, a, u, actionUserInvite)
		return err
	})
	return made, err
}

// InviteAgain replaces the sign-in link of a user who has not chosen a password yet. The
// errors are those of [People.UserByID], user_inactive and password_set (conflict).
func (p *People) InviteAgain(ctx context.Context, a Actor, id int64) (Invitation, error) {
	var made Invitation
	_, err := p.administer(ctx, a, id, func(tx *peopledb.DB, u *peopledb.User) (err error) {
		switch {
		case u.Inactive:
			return errInactive(u.Email)
		case u.Password != "":
			return errPasswordSet
		}
		if err := tx.DeleteLinksOf(ctx, u.ID); err != nil {
			return err
		}
		made, err = p.invite(ctx, tx, a, *u, actionSignInLinkCreate)
		return err
	})
	return made, err
}

// invite writes a sign-in link of u and the entry of the audit log.
func (p *People) invite(ctx context.Context, tx *peopledb.DB, a Actor, u peopledb.User, action Action) (Invitation, error) {
	made := Invitation{User: userOf(u), Token: rand.Text(), Expires: p.now().Add(inviteLife).Truncate(time.Second)}
	err := tx.AddLink(ctx, peopledb.Link{Digest: digestOf(made.Token), Purpose: peopledb.PurposeSignIn, User: u.ID, ExpiresAt: sqldb.Time{Time: made.Expires}})
	if err == nil {
		err = p.record(ctx, tx, a, Event{Action: action, Subject: u.Email})
	}
	if err != nil {
		return Invitation{}, err
	}
	return made, nil
}

// ChoosePassword sets the first password of the acting user, who signed in by a link, and
// ends all other sessions. The user it returns has a new Generation, as that of
// [People.ChangePassword]. A user who has a password is password_set (conflict).
func (p *People) ChoosePassword(ctx context.Context, a Actor, keep SessionID, password string) (User, error) {
	if err := may(a, ownAccount); err != nil {
		return User{}, err
	}
	switch before, err := p.db.User(ctx, a.User); {
	case err != nil:
		return User{}, sqldb.IfNotFound(err, errUserGone)
	case before.Password != "":
		return User{}, errPasswordSet // without the costly hash
	}
	hash, err := p.hashFor(ctx, a.ID, password)
	if err != nil {
		return User{}, err
	}
	u, err := p.change(ctx, peopledb.User{ID: a.User}, func(tx *peopledb.DB, u *peopledb.User) error {
		ended, err := p.setPassword(ctx, tx, u, hash, keep)
		if err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionPasswordChange, Subject: u.Email, Detail: "the first password; " + endedText(ended)})
	})
	if errors.Is(err, errPasswordWrong) { // there is another one than none
		err = errPasswordSet
	}
	return userOf(u), err
}

var (
	errNoneYet     = fault.Conflict("not_set_up", "No administrator exists yet")
	errPasswordSet = fault.Conflict("password_set", "A password is already chosen, so nothing was changed")
)

func errInactive(email string) error {
	return fault.Conflict("user_inactive", "The account "+email+" is deactivated")
}
