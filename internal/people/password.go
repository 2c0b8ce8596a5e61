package people

import "context"

// CheckPassword asks a user who is signed in for the password again, before
// something that a stolen session must not do. The errors are password_wrong
// (unauthorized) and rate_limited.
func (p *People) CheckPassword(ctx context.Context, a Actor, password string) error {
	return errNotBuilt
}

// ChangePassword replaces the user's own password and ends all sessions but
// keep. The user it returns has a new Generation, which a renewed session must be
// saved with. The errors are those of [People.CheckPassword] for the old one, and
// codes that begin with "password_" for the new one (invalid).
func (p *People) ChangePassword(ctx context.Context, a Actor, keep SessionID, old, new string) (User, error) {
	return User{}, errNotBuilt
}
