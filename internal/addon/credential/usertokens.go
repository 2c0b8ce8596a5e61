package credential

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"net/netip"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// userTokenIssuer is the claim iss of the tokens that the addon signs.
const userTokenIssuer = "countersign-addon"

// userTokenLabel is what keys of user tokens are derived with: a key signs nothing else.
const userTokenLabel = "countersign user token"

// The codes of an app that has not proven who its user is.
const (
	CodeUserTokenMissing = "user_token_missing"
	CodeUserTokenInvalid = "user_token_invalid"
	// CodeUserTokenExpired is of a token that was valid. The app gets a new one from its site.
	CodeUserTokenExpired = "user_token_expired"
)

var (
	errUserTokenMissing = fault.Unauthorized(CodeUserTokenMissing, "No user token. An app sends the one that its site gave it as Authorization: Bearer TOKEN")
	errUserTokenInvalid = fault.Unauthorized(CodeUserTokenInvalid, "The user token is not valid for this API key")
	errUserTokenExpired = fault.Unauthorized(CodeUserTokenExpired, "The user token has expired. Get a new one from the site")
)

// UserToken proves to the addon that a user is signed in at the site.
type UserToken struct {
	Token   string
	Expires time.Time
}

// String keeps the token out of texts and logs that are made by accident.
func (UserToken) String() string { return "(user token)" }

// AppUser is the user of the site who is signed in to the app that calls.
type AppUser struct {
	// ID is the id that the site has for the user, 1 to 128 printable characters.
	ID string
	// Credential names the API credentials whose key the app has, for logs.
	Credential string
	Addr       netip.Addr
	// Expires is when the app needs a new token.
	Expires time.Time
}

// NewUserToken returns a token for a user of the site, valid for [usertoken.Life], for the
// app with any active API key of the site. The caller is a program of the site, which knows
// that the user is signed in. An invalid id is of kind Invalid with Fields "user_id".
func (s *Service) NewUserToken(actor people.Actor, userID string) (UserToken, error) {
	if err := s.access.May(actor, access.ActForUsers); err != nil {
		return UserToken{}, err
	}
	if problem := input.UserID(userID); problem != "" {
		return UserToken{}, input.Invalid("user_id_invalid", map[string]string{"user_id": problem})
	}
	text, token := usertoken.Mint(s.userTokenKey(), userID, s.access.Now())
	return UserToken{text, token.Expires}, nil
}

// userTokenKey is the key of the tokens that the addon signs. A new key file ends them.
func (s *Service) userTokenKey() usertoken.Key {
	return usertoken.Key{Secret: s.access.Box().MAC(userTokenLabel, nil), Issuer: userTokenIssuer}
}

// SiteTokenKey is the key of the tokens that a site signs itself: the HMAC-SHA256 under
// its API secret of the text "countersign user token". The issuer is the API key.
func SiteTokenKey(c Values) usertoken.Key {
	h := hmac.New(sha256.New, []byte(c.Secret))
	h.Write([]byte(userTokenLabel))
	return usertoken.Key{Secret: [sha256.Size]byte(h.Sum(nil)), Issuer: c.Key}
}

// AppUser finds the user of an app by its API key and a user token. The token is one of
// [Service.NewUserToken], or was signed with the secret that belongs to the key. Errors are of
// kind Unauthorized: credential_unknown (the key), [CodeUserTokenMissing],
// [CodeUserTokenInvalid], credential_inactive, [CodeUserTokenExpired]. Who has no valid token
// does not learn whether the key is active.
func (s *Service) AppUser(ctx context.Context, from netip.Addr, key, userToken string) (AppUser, error) {
	if err := s.access.Ready(); err != nil {
		return AppUser{}, err
	}
	p, err := s.pairWithKey(ctx, key)
	if err != nil {
		return AppUser{}, err
	}
	if userToken == "" {
		return AppUser{}, errUserTokenMissing
	}
	token, err := s.verifyUserToken(p, userToken)
	switch {
	case errors.Is(err, usertoken.ErrInvalid), err == nil && input.UserID(token.User) != "":
		return AppUser{}, errUserTokenInvalid
	case !p.isActive():
		return AppUser{}, errCredentialInactive
	case err != nil: // it has expired
		return AppUser{}, errUserTokenExpired
	}
	s.uses.Note(p.ID, s.access.Now(), from)
	return AppUser{ID: token.User, Credential: nameOf(p.Credential), Addr: from, Expires: token.Expires}, nil
}

const (
	// userTokenBytes is how much memory verified user tokens use at most.
	userTokenBytes = 2 << 20
	// userTokenSize is about what one of them uses.
	userTokenSize = 512
)

// verifyUserToken is [usertoken.Verify] with the keys of a pair. An app sends the same token until
// it expires, so it is verified once for each pair of the cached table, and its time each time.
func (s *Service) verifyUserToken(p *openPair, text string) (usertoken.Token, error) {
	now := s.access.Now()
	if p.number == 0 {
		return usertoken.Verify(text, now, p.tokens...)
	}
	digest := sha256.Sum256([]byte(text)) // memory does not hold the tokens themselves
	if token, found := s.userTokens.Find(digest, p.number); found {
		return token, token.At(now)
	}
	token, err := usertoken.Verify(text, now, p.tokens...)
	if err == nil {
		s.userTokens.Store(digest, p.number, token)
	}
	return token, err
}
