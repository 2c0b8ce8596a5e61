package people

import (
	"context"

	"github.com/countersign/countersign/internal/people/peopledb"
)

// Join creates a user who is not an administrator. allow runs in the same transaction,
// and refuses with an error: it is where an invitation is used up. Check the invitation
// before the call too, or strangers get as far as the costly hash. The errors are those of
// [People.CreateAdministrator].
func (p *People) Join(ctx context.Context, from Origin, email, password string, allow func(tx *peopledb.DB, u User) error) (User, error) {
	email, hash, err := p.hashNew(ctx, strangersQueue, email, password)
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
