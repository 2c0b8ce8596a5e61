package people

import (
	"context"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people/peopledb"
)

// Join creates a user who is not an administrator, by an invitation, which names where failures
// are counted. allow runs in the same transaction, and refuses with an error: it is where the
// invitation is used up. Check the invitation before the call too. The errors are those of
// [People.CreateAdministrator], and rate_limited after too many e-mails that are taken.
func (p *People) Join(ctx context.Context, from Origin, invitation, email, password string, allow func(tx *peopledb.DB, u User) error) (User, error) {
	email, err := checkNew(email, password)
	if err != nil {
		return User{}, err
	}
	attempt, err := try(limitKey{p.limits.address, limitAddress(from.Addr)}, limitKey{p.limits.invite, invitation})
	if err != nil {
		return User{}, err
	}
	u, err := p.join(ctx, from, email, password, allow)
	attempt.ended(fault.HasCode(err, codeTaken))
	return u, err
}

func (p *People) join(ctx context.Context, from Origin, email, password string, allow func(tx *peopledb.DB, u User) error) (User, error) {
	if err := checkFree(ctx, p.db, email, 0); err != nil {
		return User{}, err // without the costly hash
	}
	hash, err := p.hashes.make(ctx, strangersQueue, password)
	if err != nil {
		return User{}, err
	}
	var u peopledb.User
	err = p.db.Tx(ctx, func(tx *peopledb.DB) error {
		var err error
		if u, err = p.addUser(ctx, tx, peopledb.User{Email: email, Password: hash, SignedInAt: p.stamp()}); err != nil {
			return err
		}
		if err := allow(tx, userOf(u)); err != nil {
			return err
		}
		return p.record(ctx, tx, userOf(u).Actor(from), Event{Action: actionUserCreate, Subject: u.Email, Detail: "by an invitation"})
	})
	return userOf(u), err
}
