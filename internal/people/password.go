package people

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// The length of a password, in characters, and the most bytes that are hashed.
const (
	minPassword      = 12
	maxPassword      = 128
	maxPasswordBytes = 1024
)

//go:embed commonpasswords.txt
var commonPasswords string

// checkPassword returns what is wrong with a password that is to be set. There are
// no rules about kinds of characters: length and not being guessed first are
// what counts.
func checkPassword(email, password string) error {
	wrong := func(code, message string) error { return fault.Invalid("password_"+code, message) }
	folded := strings.ToLower(password)
	local, domain, _ := strings.Cut(email, "@")
	switch n := utf8.RuneCountInString(password); {
	case n < minPassword:
		return wrong("short", "This password is too short; use 12 characters or more, for example four words")
	case n > maxPassword || len(password) > maxPasswordBytes:
		return wrong("long", "This password is too long; use 128 characters at most")
	case folded == email || folded == local || folded == domain:
		return wrong("email", "The password must not be the e-mail address or a part of it; choose another one")
	case common(folded):
		return wrong("common", "This password is too easy to guess. Choose another one, for example four words")
	}
	return nil
}

// common reports whether a password is on the list, or one character over and over.
func common(folded string) bool {
	first, size := utf8.DecodeRuneInString(folded)
	if strings.TrimLeft(folded[size:], string(first)) == "" {
		return true
	}
	for line := range strings.Lines(commonPasswords) {
		if strings.TrimSpace(line) == folded {
			return true
		}
	}
	return false
}

// CheckNew checks the e-mail and the password of a new user. The error names all that is wrong, with Fields "email" and
// "password"; its code is that of the first.
func CheckNew(email, password string) error {
	_, err := checkNew(email, password)
	return err
}

// checkNew is CheckNew, and returns the e-mail as it is kept.
func checkNew(email, password string) (cleaned string, err error) {
	cleaned, wrongEmail := CleanEmail(email)
	return cleaned, fault.All(fault.At("email", wrongEmail), fault.At("password", checkPassword(cleaned, password)))
}

// CheckNewPassword returns what is wrong with a password that replaces old, of a user with an e-mail: a code that begins
// with "password_", with Fields "new".
func CheckNewPassword(email, old, new string) error {
	if old == new && old != "" {
		return fault.At("new", fault.Invalid("password_same", "The new password equals the old one. Choose another one"))
	}
	return fault.At("new", checkPassword(email, new))
}

// hashNew is checkNew, and returns the hash too. q is the part of the queue that may be filled for it.
func (p *People) hashNew(ctx context.Context, q queue, email, password string) (cleaned, hash string, err error) {
	if cleaned, err = checkNew(email, password); err != nil {
		return "", "", err
	}
	hash, err = p.hashes.make(ctx, q, password)
	return cleaned, hash, err
}

// hashFor checks a password that a user is to have, and returns its hash.
func (p *People) hashFor(ctx context.Context, email, password string) (hash string, err error) {
	if err := checkPassword(email, password); err != nil {
		return "", err
	}
	return p.hashes.make(ctx, wholeQueue, password)
}

// CheckPassword asks a user who is signed in for the password again, before
// something that a stolen session must not do. The errors are password_wrong
// (unauthorized) and rate_limited.
func (p *People) CheckPassword(ctx context.Context, a Actor, password string) error {
	_, err := p.again(ctx, a, password)
	return err
}

// again checks the acting user's password. The user it returns is the one whose
// password that was.
func (p *People) again(ctx context.Context, a Actor, password string) (peopledb.User, error) {
	if err := may(a, ownAccount); err != nil {
		return peopledb.User{}, err
	}
	try, err := try(limitKey{p.limits.again, userKey(a.User)})
	if err != nil {
		return peopledb.User{}, err
	}
	u, err := p.checkAgain(ctx, a.User, password)
	try.ended(errors.Is(err, errPasswordWrong))
	return u, err
}

func (p *People) checkAgain(ctx context.Context, user int64, password string) (peopledb.User, error) {
	u, err := p.db.User(ctx, user)
	if err != nil {
		return peopledb.User{}, sqldb.IfNotFound(err, errUserGone)
	}
	if u.Password == "" {
		return peopledb.User{}, errPasswordUnset
	}
	right, err := p.hashes.matches(ctx, wholeQueue, u.Password, hashable(password))
	if err == nil && !right {
		err = errPasswordWrong
	}
	return u, err
}

// withPassword runs an act on the acting user, whose password it asks for first. It
// returns the user as it is then.
func (p *People) withPassword(ctx context.Context, a Actor, password string, fn func(*peopledb.DB, *peopledb.User) error) (peopledb.User, error) {
	checked, err := p.again(ctx, a, password)
	if err != nil {
		return peopledb.User{}, err
	}
	return p.change(ctx, checked, fn)
}

// change runs an act on a user whose password was checked, in one transaction. fn
// changes the user, which is then written.
func (p *People) change(ctx context.Context, checked peopledb.User, fn func(*peopledb.DB, *peopledb.User) error) (u peopledb.User, err error) {
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		if u, err = tx.LockUser(ctx, checked.ID); err != nil {
			return sqldb.IfNotFound(err, errUserGone)
		}
		if u.Password != checked.Password {
			return errPasswordWrong // it was changed a moment ago
		}
		if err := fn(tx, &u); err != nil {
			return err
		}
		return tx.UpdateUser(ctx, u)
	})
	return u, err
}

// ChangePassword replaces the user's own password and ends all sessions but
// keep. The user it returns has a new Generation, which a renewed session must be
// saved with. The errors are those of [People.CheckPassword] for the old one, with Fields
// "old", and those of [CheckNewPassword]: both together when both are wrong.
func (p *People) ChangePassword(ctx context.Context, a Actor, keep SessionID, old, new string) (User, error) {
	if err := may(a, ownAccount); err != nil {
		return User{}, err
	}
	checked, wrongOld := p.again(ctx, a, old)
	if err := fault.All(fault.At("old", wrongOld), CheckNewPassword(a.ID, old, new)); err != nil {
		return User{}, err
	}
	hash, err := p.hashes.make(ctx, wholeQueue, new)
	if err != nil {
		return User{}, err
	}
	u, err := p.change(ctx, checked, func(tx *peopledb.DB, u *peopledb.User) error {
		ended, err := p.setPassword(ctx, tx, u, hash, keep)
		if err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionPasswordChange, Subject: u.Email, Detail: endedText(ended)})
	})
	return userOf(u), err
}

// setPassword sets a new hash of u and ends its sessions but keep; the caller
// writes u.
func (p *People) setPassword(ctx context.Context, tx *peopledb.DB, u *peopledb.User, hash string, keep SessionID) (ended int64, err error) {
	u.Password, u.PasswordAt = hash, p.stamp()
	return p.endOthers(ctx, tx, u, keep)
}

// endOthers ends u's sessions but keep, and makes its browsers unknown; the caller
// writes u.
func (p *People) endOthers(ctx context.Context, tx *peopledb.DB, u *peopledb.User, keep SessionID) (ended int64, err error) {
	u.Generation++
	ended, err = tx.EndSessions(ctx, u.ID, int64(keep), p.stamp())
	if err == nil && keep != 0 {
		err = tx.SetSessionGeneration(ctx, u.ID, int64(keep), u.Generation)
	}
	return ended, err
}

var (
	errPasswordWrong = fault.Unauthorized("password_wrong", "Wrong password. Try again")
	errPasswordUnset = fault.Conflict("password_unset", "You have not chosen a password yet; choose one first")
	errUserGone      = fault.Unauthorized("user_gone", "This account was removed or deactivated. Ask another administrator")
)

// hashable keeps what nobody can have as a password from being hashed at length.
func hashable(password string) string {
	if len(password) > maxPasswordBytes {
		return ""
	}
	return password
}
