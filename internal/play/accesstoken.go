package play

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/sync/singleflight"
)

const (
	// assertionLife is how long a signed assertion is valid; Google allows an hour.
	assertionLife = 10 * time.Minute
	// tokenMargin is how long before its end an access token is replaced.
	tokenMargin = time.Minute
	// maxTokenBytes is the size of the largest answer of the token endpoint that is read.
	maxTokenBytes = 64 << 10
)

// tokenSource exchanges what the service account signs for access tokens, and caches one.
type tokenSource struct {
	account account
	scope   string
	url     string
	client  *http.Client
	now     func() time.Time

	fetches singleflight.Group
	mu      sync.Mutex // of the fields below
	token   string
	expires time.Time
}

// get returns an access token. Its error is an [Error]. Callers that need a new one at the same time
// share one call, also if it fails: while Google refuses the account, or does not answer, they would
// otherwise wait for each other.
func (s *tokenSource) get(ctx context.Context) (string, error) {
	if token := s.cached(); token != "" {
		return token, nil
	}
	fetched := s.fetches.DoChan("", func() (any, error) { return s.renew(context.WithoutCancel(ctx)) })
	select {
	case done := <-fetched:
		token, _ := done.Val.(string)
		return token, done.Err
	case <-ctx.Done():
		return "", &Error{Reason: Unavailable, Cause: ctx.Err()}
	}
}

// cached is the access token that was fetched last, "" when it is over.
func (s *tokenSource) cached() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now().Before(s.expires) {
		return s.token
	}
	return ""
}

// renew fetches an access token, unless another call has done so meanwhile.
func (s *tokenSource) renew(ctx context.Context) (string, error) {
	if token := s.cached(); token != "" {
		return token, nil
	}
	asked := s.now()
	token, life, err := s.fetch(ctx)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token, s.expires = token, asked.Add(life-tokenMargin)
	return token, nil
}

// drop forgets an access token that Google refused.
func (s *tokenSource) drop(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == token {
		s.token = ""
	}
}

// fetch asks for a new access token (RFC 7523, section 2.1).
func (s *tokenSource) fetch(ctx context.Context) (token string, life time.Duration, err error) {
	assertion, err := s.assertion()
	if err != nil {
		return "", 0, &Error{Reason: Unauthorized, Cause: errors.New("the key of the service account can't sign")}
	}
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, &Error{Reason: Refused, Cause: errors.New("invalid address of the token endpoint")}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := s.client.Do(r)
	if err != nil {
		return "", 0, failureOf(ctx, err, assertion)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxTokenBytes))
	if err != nil {
		return "", 0, failureOf(ctx, err, assertion)
	}
	return s.read(response, body)
}

// read reads the answer of the token endpoint.
func (s *tokenSource) read(response *http.Response, body []byte) (string, time.Duration, error) {
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
		Error       string `json:"error"`
	}
	broken := json.Unmarshal(body, &answer) != nil
	switch status := response.StatusCode; {
	case status == http.StatusOK && !broken && answer.AccessToken != "" && answer.ExpiresIn > 0:
		life := time.Duration(min(answer.ExpiresIn, 24*60*60)) * time.Second
		return answer.AccessToken, max(life, 2*tokenMargin), nil
	case broken || status < 400 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500:
		return "", 0, &Error{Reason: Unavailable, RetryAfter: retryAfter(response.Header, s.now()), Cause: errors.New("no access token from the token endpoint: status " + response.Status)}
	}
	return "", 0, &Error{Reason: Unauthorized, Cause: errors.New("the token endpoint refused the service account: " + codeWord(answer.Error))}
}

// assertion signs that the service account asks for a scope. Its audience is Google's token
// endpoint also when another address stands for Google, because a proxy passes it on.
func (s *tokenSource) assertion() (string, error) {
	key := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: s.account.key, KeyID: s.account.keyID}}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	now := s.now()
	return jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: s.account.email, Audience: jwt.Audience{googleToken},
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(assertionLife)),
	}).Claims(map[string]any{"scope": s.scope}).Serialize()
}

// codeWord returns an error code of Google when it is a plain word, and else nothing of it:
// what is not a code could hold anything.
func codeWord(code string) string {
	if code == "" || len(code) > 64 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return "no code"
	}
	return code
}
