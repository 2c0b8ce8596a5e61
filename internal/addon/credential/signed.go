package credential

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// SignedWindow is how far the time of a signed call may be from the server's.
const SignedWindow = 300 * time.Second

var (
	noncePattern     = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{8,128}$`)
	timestampPattern = regexp.MustCompile(`^[0-9]{1,12}$`)
)

// SignedRequest is a call that is signed with the site's pair, as its headers
// X-Api-Key, X-Api-Timestamp, X-Api-Nonce and X-Api-Signature give it.
type SignedRequest struct {
	Key       string
	Timestamp string // Unix seconds
	Nonce     string // 8 to 128 letters, digits and -._~+/=
	Signature string // hex
	Method    string
	// PathAndQuery is the request target as it was sent, for example
	// "/api-addons/admin/app/settings?x=1".
	PathAndQuery string
	BodySHA256   [sha256.Size]byte
}

// mac returns the signature of a call: HMAC-SHA256 under the secret over method, path
// and query, timestamp, nonce and the hex SHA-256 of the body, joined by newlines.
func mac(secret string, r SignedRequest) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(strings.Join([]string{
		r.Method, r.PathAndQuery, r.Timestamp, r.Nonce, hex.EncodeToString(r.BodySHA256[:]),
	}, "\n")))
	return h.Sum(nil)
}

var (
	errCredentialUnknown  = fault.Unauthorized("credential_unknown", "The API key, signature or secret is not valid")
	errCredentialInactive = fault.Unauthorized("credential_inactive", "The API key or the API secret is inactive; both must be active")
	errTimestamp          = fault.Unauthorized("timestamp_invalid", fmt.Sprintf("X-Api-Timestamp must be Unix seconds within %d seconds of the server's clock", SignedWindow/time.Second))
	errBeforeStart        = fault.Unauthorized("timestamp_before_start", "X-Api-Timestamp is before this server's start, and the nonces of earlier calls can't be checked now. Sign the call again with the current time and a new nonce")
	errNonce              = fault.Unauthorized("nonce_invalid", "X-Api-Nonce must be 8 to 128 letters, digits and -._~+/=")
	errNonceUsed          = fault.Unauthorized("nonce_used", "This nonce was used before. Every signed call needs a new one")
)

// Signed finds the pair that signed a call and notes its use. No call is served twice, by
// whatever process. Errors are of kind Unauthorized: credential_unknown (key or signature),
// credential_inactive, timestamp_invalid, timestamp_before_start, nonce_invalid, nonce_used;
// or Unavailable.
func (s *Service) Signed(ctx context.Context, from netip.Addr, r SignedRequest) (people.Actor, error) {
	if err := s.access.Ready(); err != nil {
		return people.Actor{}, err
	}
	now := s.access.Now()
	at, err := readTimestamp(r.Timestamp, now)
	if err != nil {
		return people.Actor{}, err
	}
	if !noncePattern.MatchString(r.Nonce) {
		return people.Actor{}, errNonce
	}
	given, err := hex.DecodeString(r.Signature)
	if err != nil || len(given) != sha256.Size {
		return people.Actor{}, errCredentialUnknown
	}
	c, err := s.activePair(ctx, r.Key, func(secret string) bool { return hmac.Equal(mac(secret, r), given) })
	if err != nil {
		return people.Actor{}, err
	}
	if err := s.useNonce(ctx, nonce{c.ID, r.Nonce}, r.Method, at, now); err != nil {
		return people.Actor{}, err
	}
	return s.actorOf(c, from), nil
}

// readTimestamp reads the time of a call and holds it to the window.
func readTimestamp(text string, now time.Time) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !timestampPattern.MatchString(text) {
		return time.Time{}, errTimestamp
	}
	at := time.Unix(seconds, 0)
	if away := now.Sub(at); away > SignedWindow || away < -SignedWindow {
		return time.Time{}, errTimestamp
	}
	return at, nil
}

// beforeStart reports whether a call was signed before the memory of nonces began,
// so that it may have been served already, where the database can't say. Timestamps are whole seconds: that of the
// start counts as after it. The age comes from the monotonic clock, so that a clock
// that is set back after the start refuses nobody.
func (s *Service) beforeStart(at, now time.Time) bool {
	return at.Before(now.Add(-now.Sub(s.started)).Truncate(time.Second))
}

// Basic is Signed for a key and a secret sent with HTTP's Basic scheme, which is
// for TLS alone.
func (s *Service) Basic(ctx context.Context, from netip.Addr, key, secret string) (people.Actor, error) {
	if err := s.access.Ready(); err != nil {
		return people.Actor{}, err
	}
	c, err := s.activePair(ctx, key, func(stored string) bool { return subtle.ConstantTimeCompare([]byte(stored), []byte(secret)) == 1 })
	if err != nil {
		return people.Actor{}, err
	}
	return s.actorOf(c, from), nil
}

// activePair finds an active pair by its key, for a caller who proves to know its secret.
func (s *Service) activePair(ctx context.Context, key string, proves func(secret string) bool) (*openPair, error) {
	p, err := s.pairWithKey(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case !proves(p.Secret):
		return nil, errCredentialUnknown
	case !p.isActive():
		return nil, errCredentialInactive
	}
	return p, nil
}

// actorOf is the program that has API credentials. Its use is noted.
func (s *Service) actorOf(p *openPair, from netip.Addr) people.Actor {
	s.uses.Note(p.ID, s.access.Now(), from)
	return people.Actor{Kind: people.KindKey, ID: nameOf(p.Credential), FrontEnd: people.FrontEndAPI, Addr: from, Secret: true}
}
