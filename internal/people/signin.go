package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// SignIn is what a right e-mail and password lead to.
type SignIn struct {
	User User
	// NeedsCode reports that the user is not signed in before [People.SignInCode]
	// has accepted a code.
	NeedsCode bool
}

// errDeactivated is for somebody who has shown the password, and so may know.
var errDeactivated = fault.Forbidden("user_inactive", "This account is deactivated. Ask another administrator to activate it")

// errRefused does not say which of the two was wrong.
var errRefused = fault.Unauthorized("sign_in_refused", "Wrong e-mail or password. Check both and try again")

// SignIn checks an e-mail and a password. An unknown e-mail and a wrong password
// are the same error (sign_in_refused, unauthorized) after the same time. Too
// many failures of one address or for one e-mail are rate_limited, with the time
// to wait; a browser in which the user has signed in before has a count of its own
// instead. So is a sign-in while too many passwords wait to be checked. A user who was
// deactivated is user_inactive (forbidden) after the right password.
func (p *People) SignIn(ctx context.Context, from Origin, email, password string) (SignIn, error) {
	email, err := keptEmail(ctx, p.db, email)
	if err != nil && !errors.Is(err, errEmail) {
		return SignIn{}, err
	} // an invalid one is "", which is nobody's
	known, err := p.knownAs(ctx, from, func(u peopledb.User) bool { return u.Email == email })
	if err != nil {
		return SignIn{}, err
	}
	keys, q := []limitKey{{p.limits.address, limitAddress(from.Addr)}, {p.limits.email, email}}, strangersQueue
	if known != "" {
		keys, q = []limitKey{{p.limits.known, known}}, wholeQueue
	}
	attempt, err := try(keys...)
	if err != nil {
		p.failed.note(p.now(), from.Addr, failedSignIn{limited: true})
		return SignIn{}, err
	}
	checked, err := p.checkSignIn(ctx, q, email, password)
	attempt.ended(errors.Is(err, errRefused))
	if errors.Is(err, errRefused) {
		p.log.Warn("a sign-in was refused", "client", from.address())
		p.failed.note(p.now(), from.Addr, failedSignIn{email: checked.Email})
		return SignIn{}, err
	}
	if err != nil {
		return SignIn{}, err
	}
	if checked.TOTP != nil {
		return SignIn{User: userOf(checked), NeedsCode: true}, nil
	}
	var u peopledb.User
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		if u, err = tx.LockUser(ctx, checked.ID); err != nil {
			return err
		}
		if u.Password != checked.Password || u.TOTP != nil {
			return errRefused // changed a moment ago
		}
		return p.signedIn(ctx, tx, from, &u, "by password")
	})
	return SignIn{User: userOf(u)}, err
}

// checkSignIn finds the user of an e-mail and a password, or errRefused. It takes
// as long for an e-mail that nobody has.
func (p *People) checkSignIn(ctx context.Context, q queue, email, password string) (peopledb.User, error) {
	u, err := p.db.UserNamed(ctx, email)
	if errors.Is(err, sqldb.ErrNotFound) {
		u, err = peopledb.User{}, nil
	}
	if err != nil {
		return u, err
	}
	hash := u.Password
	if hash == "" {
		hash = p.hashes.nobodys()
	}
	right, err := p.hashes.matches(ctx, q, hash, hashable(password))
	if err == nil && !right {
		err = errRefused
	}
	return u, err
}

// signedIn notes a sign-in, or refuses that of a user who is inactive.
func (p *People) signedIn(ctx context.Context, tx *peopledb.DB, from Origin, u *peopledb.User, how string) error {
	if u.Inactive {
		return errDeactivated
	}
	u.SignedInAt = p.stamp()
	if err := tx.UpdateUser(ctx, *u); err != nil {
		return err
	}
	return p.record(ctx, tx, userOf(*u).Actor(from), Event{Action: actionUserSignIn, Subject: u.Email, Detail: how})
}

// SignInCode completes a sign-in with a code of the authenticator app or a recovery
// code, each valid once. The errors are code_refused (unauthorized) and rate_limited. A
// known browser has a separate count of failures.
func (p *People) SignInCode(ctx context.Context, from Origin, user int64, code string) error {
	known, err := p.knownAs(ctx, from, func(u peopledb.User) bool { return u.ID == user })
	if err != nil {
		return err
	}
	keys := []limitKey{{p.limits.address, limitAddress(from.Addr)}, {p.limits.code, userKey(user)}}
	if known != "" {
		keys = []limitKey{{p.limits.knownCode, known}}
	}
	attempt, err := try(keys...)
	if err != nil {
		return err
	}
	var refused bool
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		u, err := tx.LockUser(ctx, user)
		if err != nil {
			return sqldb.IfNotFound(err, errCodeRefused)
		}
		how, err := p.useCode(ctx, tx, &u, code)
		if errors.Is(err, errCodeRefused) {
			refused = true
			return p.record(ctx, tx, userOf(u).Actor(from), Event{Action: actionUserRefuseCode, Subject: u.Email, Detail: "after the right password"})
		}
		if err != nil {
			return err
		}
		return p.signedIn(ctx, tx, from, &u, how)
	})
	if err == nil && refused {
		err = errCodeRefused
	}
	attempt.ended(errors.Is(err, errCodeRefused))
	return err
}

// useCode uses up a code of the authenticator or a recovery code, and says which
// it was. The caller writes u.
func (p *People) useCode(ctx context.Context, tx *peopledb.DB, u *peopledb.User, code string) (how string, err error) {
	if u.TOTP == nil {
		return "", errCodeRefused
	}
	folded := foldRecoveryCode(code)
	if len(folded) == authenticatorLen {
		step, err := p.step(*u, u.TOTP, folded)
		if err == nil {
			u.TOTPStep = step
		}
		return "by password and code", err
	}
	used, err := tx.UseRecoveryCode(ctx, u.ID, digestOf(folded))
	if err == nil && !used {
		err = errCodeRefused
	}
	return fmt.Sprintf("by password and recovery code, %d left", u.RecoveryCodes-1), err
}
