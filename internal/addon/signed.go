package addon

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"time"

	"github.com/countersign/countersign/internal/people"
)

// SignedWindow is how far the time of a signed call may be from the server's.
const SignedWindow = 300 * time.Second

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

// Sign makes the signature of a call: hex HMAC-SHA256 under the secret over
// method, path and query, timestamp, nonce and the hex SHA-256 of the body, joined
// by newlines.
func Sign(secret string, r SignedRequest) string { return "" }

// Signed finds the pair that signed a call and notes its use. Errors are of kind
// Unauthorized: credential_unknown (key or signature), credential_inactive,
// timestamp_invalid, nonce_invalid, nonce_used.
func (a *Addon) Signed(ctx context.Context, from netip.Addr, r SignedRequest) (people.Actor, error) {
	return people.Actor{}, errNotBuilt
}

// Basic is Signed for a key and a secret sent with HTTP's Basic scheme, which is
// for TLS alone.
func (a *Addon) Basic(ctx context.Context, from netip.Addr, key, secret string) (people.Actor, error) {
	return people.Actor{}, errNotBuilt
}

// nonces remembers the nonces of calls that were good.
type nonces struct{}
