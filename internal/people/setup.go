package people

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// setupLife is how long a set-up link is good.
	setupLife = 24 * time.Hour
	// setupRest is how long a link that is printed again must still be good.
	setupRest = time.Hour
)

// NewSetupLink creates the token that creates the first administrator, valid for 24
// hours and one use. Earlier ones end. If an administrator exists, it is a conflict (already_set_up).
func (p *People) NewSetupLink(ctx context.Context, a Actor) (token string, expires time.Time, err error) {
	return p.setupLink(ctx, a, false)
}

// SetupLink is NewSetupLink for a server that starts: a link that is valid for another hour stays. So
// all servers of a database print the same link.
func (p *People) SetupLink(ctx context.Context, a Actor) (token string, expires time.Time, err error) {
	return p.setupLink(ctx, a, true)
}

func (p *People) setupLink(ctx context.Context, a Actor, keep bool) (token string, expires time.Time, err error) {
	if err := may(a, operate); err != nil {
		return "", time.Time{}, err
	}
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		sealed, err := tx.LockSharedMeta(ctx, metaSetupLink)
		if err != nil {
			return err
		}
		if n, err := tx.CountAdministrators(ctx); err != nil {
			return err
		} else if n > 0 {
			return errAlreadySetUp
		}
		if keep {
			if token, expires, err = p.keptSetupLink(ctx, tx, sealed); token != "" || err != nil {
				return err
			}
		}
		token, expires = rand.Text(), p.now().Add(setupLife).Truncate(time.Second)
		if err := replaceSetupLink(ctx, tx, token, expires); err != nil {
			return err
		}
		if err := tx.SetMeta(ctx, metaSetupLink, p.sealSetupLink(token)); err != nil {
			return err
		}
		return p.record(ctx, tx, a, Event{Action: actionSetupLinkCreate})
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return token, expires, nil
}

// metaSetupLink is the name under which the database has the sealed token of the newest set-up link. It is also what
// its token is sealed for.
const metaSetupLink = "setup_link"

// sealSetupLink seals a token. Without the key file it is empty, and the link is not printed again.
func (p *People) sealSetupLink(token string) string {
	box := p.box()
	if box == nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(box.Seal(metaSetupLink, []byte(token)))
}

// keptSetupLink opens the token of the newest set-up link. It is "" unless the link is valid for another hour.
func (p *People) keptSetupLink(ctx context.Context, tx *peopledb.DB, sealed string) (token string, expires time.Time, err error) {
	text, err := base64.StdEncoding.DecodeString(sealed)
	box := p.box()
	if err != nil || box == nil {
		return "", time.Time{}, nil //nolint:nilerr // a new link takes its place
	}
	plain, err := box.Open(metaSetupLink, text)
	if err != nil {
		return "", time.Time{}, nil //nolint:nilerr // there was none yet, or the key file was replaced
	}
	l, err := tx.Link(ctx, peopledb.PurposeSetup, digestOf(string(plain)))
	switch {
	case errors.Is(err, sqldb.ErrNotFound):
		return "", time.Time{}, nil
	case err != nil || !l.UsedAt.IsZero() || l.ExpiresAt.Sub(p.now()) < setupRest:
		return "", time.Time{}, err
	}
	return string(plain), l.ExpiresAt.Time, nil
}

// CheckSetupLink reports whether a set-up token is good: nil, already_set_up
// (conflict), or link_unknown, link_used, link_expired (forbidden).
func (p *People) CheckSetupLink(ctx context.Context, token string) error {
	return p.checkSetupLink(ctx, p.db, token)
}

func (p *People) checkSetupLink(ctx context.Context, db *peopledb.DB, token string) error {
	problem := p.checkLink(ctx, db, peopledb.PurposeSetup, token)
	// Asked second, it knows of the administrator who used the link up.
	n, err := db.CountAdministrators(ctx)
	if err == nil && n > 0 {
		err = errAlreadySetUp
	}
	if err != nil {
		return err
	}
	return problem
}

// Setup creates the first administrator by a set-up token, which is used up by
// that alone: an e-mail or a password that is refused leaves it good. Its errors
// are those of [People.CheckSetupLink] and [People.CreateAdministrator].
func (p *People) Setup(ctx context.Context, from Origin, token, email, password string) (User, error) {
	if err := p.CheckSetupLink(ctx, token); err != nil {
		return User{}, err // strangers don't get as far as the costly hash
	}
	email, hash, err := p.hashNew(ctx, wholeQueue, email, password)
	if err != nil {
		return User{}, err
	}
	var u peopledb.User
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		if _, err := tx.UseLink(ctx, peopledb.PurposeSetup, digestOf(token), p.stamp()); err != nil {
			return p.whyNot(ctx, tx, err, token)
		}
		if u, err = p.addUser(ctx, tx, peopledb.User{Email: email, Password: hash, First: true, Administrator: true, SignedInAt: p.stamp()}); err != nil {
			return err
		}
		return p.record(ctx, tx, userOf(u).Actor(from), Event{Action: actionUserCreate, Subject: u.Email, Detail: "by the set-up link"})
	})
	return userOf(u), err
}

// whyNot finds the reason why a set-up link could not be used.
func (p *People) whyNot(ctx context.Context, tx *peopledb.DB, err error, token string) error {
	if !errors.Is(err, sqldb.ErrNotFound) {
		return err
	}
	if reason := p.checkSetupLink(ctx, tx, token); reason != nil {
		return reason
	}
	return errLinkUsed
}

// NewLinkToken creates a token for a set-up link that has no database to be kept in
// yet; [People.AdoptSetupLink] takes it over later.
func NewLinkToken() string { return rand.Text() }

// AdoptSetupLink makes a token that was made without a database a set-up link
// until it expires, in the caller's transaction; earlier ones end. Where there is
// an administrator, it does nothing.
func (p *People) AdoptSetupLink(ctx context.Context, tx *peopledb.DB, token string, expires time.Time) error {
	if n, err := tx.CountAdministrators(ctx); err != nil || n > 0 {
		return err
	}
	return replaceSetupLink(ctx, tx, token, expires)
}

// replaceSetupLink writes a set-up link; earlier ones end.
func replaceSetupLink(ctx context.Context, tx *peopledb.DB, token string, expires time.Time) error {
	if err := tx.DeleteLinks(ctx, peopledb.PurposeSetup); err != nil {
		return err
	}
	return tx.AddLink(ctx, peopledb.Link{Digest: digestOf(token), Purpose: peopledb.PurposeSetup, ExpiresAt: sqldb.Time{Time: expires}})
}
