package playfake

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	accessTokenLife = time.Hour
	maxAssertionAge = time.Hour
	clockLeeway     = time.Minute
)

// accessToken is what the token endpoint issued.
type accessToken struct {
	Token, Scope string
	Expires      time.Time
}

// serveToken exchanges an assertion for an access token (RFC 7523).
func (s *Store) serveToken(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		refuseToken(w, "unsupported_grant_type")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	scope, ok := s.checkAssertion(r.PostFormValue("assertion"))
	if !ok {
		refuseToken(w, "invalid_grant")
		return
	}
	token := accessToken{Token: "ya29." + s.id(30), Scope: scope, Expires: s.state.Now.Add(accessTokenLife)}
	s.state.AccessTokens = append(slices.DeleteFunc(s.state.AccessTokens, func(t accessToken) bool {
		return !s.state.Now.Before(t.Expires)
	}), token)
	answer(w, map[string]any{"access_token": token.Token, "expires_in": int(accessTokenLife / time.Second), "token_type": "Bearer"})
}

// checkAssertion checks the signature, the audience and the times of an assertion.
func (s *Store) checkAssertion(text string) (scope string, ok bool) {
	key, err := s.key(&s.state.AccountKey)
	if err != nil {
		return "", false
	}
	parsed, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return "", false
	}
	var claims jwt.Claims
	var asked struct {
		Scope string `json:"scope"`
	}
	if parsed.Claims(&key.PublicKey, &claims, &asked) != nil || claims.Expiry == nil || claims.IssuedAt == nil {
		return "", false
	}
	expected := jwt.Expected{Issuer: accountEmail, AnyAudience: jwt.Audience{tokenURL}, Time: s.state.Now}
	if claims.ValidateWithLeeway(expected, clockLeeway) != nil || claims.Expiry.Time().Sub(claims.IssuedAt.Time()) > maxAssertionAge {
		return "", false
	}
	return asked.Scope, asked.Scope != ""
}

// refuseToken answers as the token endpoint does (RFC 6749, section 5.2).
func refuseToken(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": "Simulated refusal"})
}

// admit reports whether a request has an access token for a scope, and answers it when not.
func (s *Store) admit(w http.ResponseWriter, r *http.Request, scope string) bool {
	bearer, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	i := slices.IndexFunc(s.state.AccessTokens, func(t accessToken) bool { return found && t.Token == bearer })
	switch {
	case s.admitted:
		return true
	case i < 0 || !s.state.Now.Before(s.state.AccessTokens[i].Expires):
		refuse(w, http.StatusUnauthorized, "authError", "Invalid Credentials")
	case !slices.Contains(strings.Fields(s.state.AccessTokens[i].Scope), scope):
		refuse(w, http.StatusForbidden, "insufficientPermissions", "Request had insufficient authentication scopes.")
	default:
		return true
	}
	return false
}
