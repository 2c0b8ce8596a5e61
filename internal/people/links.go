package people

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// signInLife is how long a one-time sign-in link is good.
const signInLife = 10 * time.Minute

var (
	errLinkUnknown = fault.Forbidden("link_unknown", "Unknown link. A newer one may have replaced it")
	errLinkUsed    = fault.Forbidden("link_used", "This link was already used. It works once")
	errLinkExpired = fault.Forbidden("link_expired", "This link has expired")
)

// checkLink reports whether a token is good for a purpose, or why not.
func (p *People) checkLink(ctx context.Context, db *peopledb.DB, purpose peopledb.Purpose, token string) error {
	l, err := db.Link(ctx, purpose, digestOf(token))
	switch {
	case err != nil:
		return sqldb.IfNotFound(err, errLinkUnknown)
	case !l.UsedAt.IsZero():
		return errLinkUsed
	case !l.ExpiresAt.After(p.now()):
		return errLinkExpired
	}
	return nil
}

// NewSignInLink creates a token that signs a user in once within ten minutes, without
// password and code and past every limit of failures. Only the operator may make
// one. An e-mail that nobody has is user_not_found, and that of a user who was
// deactivated is user_inactive (conflict).
func (p *People) NewSignInLink(ctx context.Context, a Actor, email string) (token string, expires time.Time, err error) {
	if err := may(a, operate); err != nil {
		return "", time.Time{}, err
	}
	if email, err = keptEmail(ctx, p.db, email); err != nil {
		return "", time.Time{}, err
	}
	token, expires = rand.Text(), p.now().Add(signInLife).Truncate(time.Second)
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		u, err := tx.UserNamed(ctx, email)
		if err != nil {
			return sqldb.IfNotFound(err, errNoUser(email))
		}
		if u.Inactive {
			return errInactive(u.Email)
		}
		if err := tx.DeleteExpiredLinks(ctx, peopledb.PurposeSignIn, p.stamp()); err != nil {
			return err
		}
		link := peopledb.Link{Digest: digestOf(token), Purpose: peopledb.PurposeSignIn, User: u.ID, ExpiresAt: sqldb.Time{Time: expires}}
		if err := tx.AddLink(ctx, link); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionSignInLinkCreate, Subject: u.Email})
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return token, expires, nil
}

// SignInByLink signs in by a token of [People.NewSignInLink] and uses it up. Its
// errors are link_unknown, link_used and link_expired (forbidden).
func (p *People) SignInByLink(ctx context.Context, from Origin, token string) (User, error) {
	if err := p.checkLink(ctx, p.db, peopledb.PurposeSignIn, token); err != nil {
		return User{}, err // strangers don't get as far as a write
	}
	var u peopledb.User
	err := p.db.Tx(ctx, func(tx *peopledb.DB) error {
		l, err := tx.UseLink(ctx, peopledb.PurposeSignIn, digestOf(token), p.stamp())
		if err != nil {
			return sqldb.IfNotFound(err, errLinkUsed) // a moment ago
		}
		if u, err = tx.LockUser(ctx, l.User); err != nil {
			return sqldb.IfNotFound(err, errLinkUnknown) // removed a moment ago
		}
		return p.signedIn(ctx, tx, from, &u, "by a one-time link")
	})
	return userOf(u), err
}
