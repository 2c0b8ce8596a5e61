package people

import (
	"context"
	"time"
)

// NewSetupLink makes the token by which the first administrator is made, for 24
// hours and one use; earlier ones end. The database keeps its digest alone. It
// is a conflict (already_set_up) when there is an administrator.
func (p *People) NewSetupLink(ctx context.Context, a Actor) (token string, expires time.Time, err error) {
	return "", time.Time{}, errNotBuilt
}

// CheckSetupLink tells whether a set-up token is good: nil, already_set_up
// (conflict), or link_unknown, link_used, link_expired (forbidden).
func (p *People) CheckSetupLink(ctx context.Context, token string) error { return errNotBuilt }

// Setup makes the first administrator by a set-up token, which is used up by
// that alone: an e-mail or a password that is refused leaves it good. Its errors
// are those of [People.CheckSetupLink] and [People.CreateAdministrator].
func (p *People) Setup(ctx context.Context, from Origin, token, email, password string) (User, error) {
	return User{}, errNotBuilt
}
