package people

import "context"

// SignIn is what a right e-mail and password lead to.
type SignIn struct {
	User User
	// NeedsCode says that the user is not signed in before [People.SignInCode]
	// has accepted a code.
	NeedsCode bool
}

// SignIn checks an e-mail and a password. An unknown e-mail and a wrong password
// are the same error (sign_in_refused, unauthorized) after the same time. Too
// many failures of one address or for one e-mail are rate_limited, with the time
// to wait.
func (p *People) SignIn(ctx context.Context, from Origin, email, password string) (SignIn, error) {
	return SignIn{}, errNotBuilt
}

// SignInCode is the second step of a sign-in whose first step named the user: a
// code of the authenticator, or a recovery code, each good for one use. The
// errors are code_refused (unauthorized) and rate_limited.
func (p *People) SignInCode(ctx context.Context, from Origin, user int64, code string) error {
	return errNotBuilt
}

// NewSignInLink makes a token that signs a user in once within ten minutes,
// without password and code. Only the operator may make one.
func (p *People) NewSignInLink(ctx context.Context, a Actor, user int64) (token string, err error) {
	return "", errNotBuilt
}

// SignInByLink signs in by a token of [People.NewSignInLink] and uses it up. Its
// errors are link_unknown, link_used and link_expired (forbidden).
func (p *People) SignInByLink(ctx context.Context, from Origin, token string) (User, error) {
	return User{}, errNotBuilt
}
