package play

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	// maxBearer is the length of the longest push token that is read; real ones have about 1 KB.
	maxBearer = 8 << 10
	// pushLeeway is how far the clocks of Google and of this server may differ.
	pushLeeway = time.Minute
)

// VerifierOptions is what a verifier needs.
type VerifierOptions struct {
	// Audience is the audience that the push subscription has in the cloud console. Google
	// uses the address of the endpoint when none is set there.
	Audience string
	// Account is the e-mail of the service account that signs the pushes. Anybody can get a
	// token of Google's for any audience; this is what nobody else can get.
	Account string
	// URL replaces the address of Google's keys. "" means Google.
	URL string
	// Transport makes the calls. nil means the verifier's own, which uses no proxy.
	Transport http.RoundTripper
	Now       func() time.Time
}

// Verifier proves that push messages come from Google. Goroutines may share it.
type Verifier struct {
	audience, account string
	keys              *keySource
	now               func() time.Time
}

// NewVerifier returns a verifier. It calls nobody. Without an audience or an account it is an
// [Error] with the reason [Refused].
func NewVerifier(o VerifierOptions) (*Verifier, error) {
	if o.Audience == "" || o.Account == "" {
		return nil, &Error{Reason: Refused, Cause: errors.New("push messages need an audience and a service account")}
	}
	at, err := addressesOf(o.URL)
	if err != nil {
		return nil, &Error{Reason: Refused, Cause: err}
	}
	base := o.Transport
	if base == nil {
		base = ownTransport()
	}
	client := &http.Client{Transport: &boundedTransport{base: base}, CheckRedirect: noRedirect}
	keys := &keySource{url: at.keys, client: client, now: o.Now, turn: make(chan struct{}, 1)}
	return &Verifier{audience: o.Audience, account: o.Account, keys: keys, now: o.Now}, nil
}

// pushClaims is what the token of a push message says.
type pushClaims struct {
	jwt.Claims
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
}

// VerifyPush checks the token of a push message, which is what follows Bearer in its
// Authorization header. Its error has the reason [PushRefused], or [Unavailable] while Google's
// keys can't be read. It never quotes the token.
func (v *Verifier) VerifyPush(ctx context.Context, bearer string) error {
	if bearer == "" || len(bearer) > maxBearer {
		return refusePush("no token, or one that is too long")
	}
	parsed, err := jwt.ParseSigned(bearer, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return refusePush("not a token that is signed by RS256")
	}
	key, err := v.keys.get(ctx, parsed.Headers[0].KeyID)
	if err != nil {
		return err
	}
	var claims pushClaims
	if err := parsed.Claims(key, &claims); err != nil {
		return refusePush("the signature or the claims are not valid")
	}
	return v.check(&claims)
}

// check checks the claims of a token whose signature is valid.
func (v *Verifier) check(c *pushClaims) error {
	now := v.now()
	switch {
	case c.Expiry == nil || !now.Before(c.Expiry.Time().Add(pushLeeway)):
		return refusePush("the token has expired")
	case c.IssuedAt != nil && now.Add(pushLeeway).Before(c.IssuedAt.Time()),
		c.NotBefore != nil && now.Add(pushLeeway).Before(c.NotBefore.Time()):
		return refusePush("the token is not valid yet; compare the clocks")
	case c.Issuer != "https://accounts.google.com" && c.Issuer != "accounts.google.com":
		return refusePush("another issuer")
	case !slices.Contains(c.Audience, v.audience):
		return refusePush("another audience")
	case c.Email != v.account:
		return refusePush("another service account")
	case !c.EmailVerified:
		return refusePush("the e-mail of the service account is not verified")
	}
	return nil
}

func refusePush(why string) error { return &Error{Reason: PushRefused, Cause: errors.New(why)} }
