package membership

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/play"
)

// The purposes of what the key file makes.
const (
	purposeDigest  = "purchase token"
	purposeAccount = "iap account"
	purposeQueued  = "queued purchase token"
)

// tokens is what a purchase keeps sealed.
type tokens struct {
	Token  string `json:"token"`
	Linked string `json:"linked,omitempty"`
	// Before is its predecessors, the last one first; Linked is the first of them.
	Before []string `json:"before,omitempty"`
	// OutOfApp is what the store forgets once the purchase is acknowledged (1.1).
	OutOfApp *play.OutOfApp `json:"out_of_app,omitempty"`
}

// digestOf is the keyed digest by which a token is found. It is one of the SHA-256, which is
// what an app may send in place of the token.
func digestOf(box *keyfile.Box, token string) []byte {
	return digestOfSum(box, sha256.Sum256([]byte(token)))
}

func digestOfSum(box *keyfile.Box, sum [sha256.Size]byte) []byte {
	digest := box.MAC(purposeDigest, sum[:])
	return digest[:]
}

func sha256Hex(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// linkedDigest is nil for a purchase that replaces none.
func linkedDigest(box *keyfile.Box, token string) []byte {
	if token == "" {
		return nil
	}
	return digestOf(box, token)
}

// sealPurpose binds sealed tokens to their purchase.
func sealPurpose(name string) string { return "purchase tokens " + name }

func seal(box *keyfile.Box, name string, t tokens) ([]byte, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("membership: seal tokens: %w", err)
	}
	return box.Seal(sealPurpose(name), text), nil
}

// openTokens returns an error when the tokens were sealed with another key file.
func openTokens(box *keyfile.Box, p addondb.Purchase) (t tokens, err error) {
	plain, err := box.Open(sealPurpose(p.Name), p.Sealed)
	if err != nil {
		return t, fmt.Errorf("membership: open the tokens of %s: %w", p.Name, err)
	}
	return t, json.Unmarshal(plain, &t)
}

// sealQueued seals a token for the payload of a task.
func (s *Service) sealQueued(token string) string {
	return base64.StdEncoding.EncodeToString(s.box().Seal(purposeQueued, []byte(token)))
}

func (s *Service) openQueued(text string) (string, error) {
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf("membership: the token of a task: %w", err)
	}
	plain, err := s.box().Open(purposeQueued, sealed)
	return string(plain), err
}

// accountOf is the account id of a user under the present key file (1.5).
func (s *Service) accountOf(user string) string {
	return entitle.AccountID(func(message []byte) [32]byte { return s.box().MAC(purposeAccount, message) }, user)
}
