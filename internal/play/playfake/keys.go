package playfake

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Names in what the simulated Play signs and checks.
const (
	accountEmail = "simulated@simulated.iam.gserviceaccount.com"
	accountKeyID = "simulated-account-key"
	pushKeyID    = "simulated-push-key" // the first; later ones have a number
	tokenURL     = "https://oauth2.googleapis.com/token"
	pushIssuer   = "https://accounts.google.com"
	keyBits      = 2048
	pushTokenAge = time.Hour
)

// encodeKey returns a key as the state holds it, nil for none.
func encodeKey(key *rsa.PrivateKey) ([]byte, error) {
	if key == nil {
		return nil, nil
	}
	return x509.MarshalPKCS8PrivateKey(key)
}

// key returns a key of the state and generates it first when it is missing.
func (s *Store) key(encoded *[]byte) (*rsa.PrivateKey, error) {
	if *encoded == nil {
		fresh, err := rsa.GenerateKey(rand.Reader, keyBits)
		if err != nil {
			return nil, fmt.Errorf("generate a key of the simulated Play: %w", err)
		}
		if *encoded, err = encodeKey(fresh); err != nil {
			return nil, fmt.Errorf("generate a key of the simulated Play: %w", err)
		}
	}
	parsed, err := x509.ParsePKCS8PrivateKey(*encoded)
	if err != nil {
		return nil, fmt.Errorf("read a key of the simulated Play: %w", err)
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("read a key of the simulated Play: %T", parsed)
	}
	return key, nil
}

// pushKeyName is the id of the key of push messages.
func (s *Store) pushKeyName() string {
	if s.state.Rotations == 0 {
		return pushKeyID
	}
	return pushKeyID + "-" + strconv.Itoa(s.state.Rotations)
}

// RotatePushKey replaces the key of push messages, by a new one when key is nil.
func (s *Store) RotatePushKey(key *rsa.PrivateKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	encoded, err := encodeKey(key)
	if err == nil {
		s.state.PushKey, s.state.Rotations = encoded, s.state.Rotations+1
	}
	return err
}

// RotateAccountKey replaces the key of the service account, by a new one when key is nil. The
// file of before is refused from now on; access tokens last until their end.
func (s *Store) RotateAccountKey(key *rsa.PrivateKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	encoded, err := encodeKey(key)
	if err == nil {
		s.state.AccountKey = encoded
	}
	return err
}

// ServiceAccount returns the JSON file of the only service account that the store admits. Its
// token_uri is Google's.
func (s *Store) ServiceAccount() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, err := s.key(&s.state.AccountKey)
	if err != nil {
		return nil, err
	}
	der, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]string{
		"type": "service_account", "project_id": "simulated", "client_email": accountEmail,
		"private_key_id": accountKeyID, "token_uri": tokenURL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
}

// PushClaims are the claims of the token of a push message.
type PushClaims struct {
	jwt.Claims
	Email         string `json:"email,omitempty"`
	EmailVerified any    `json:"email_verified,omitempty"`
}

// Push returns a message as Pub/Sub pushes it: the bearer token and the body. The message
// counts as acknowledged.
func (s *Store) Push(m Message) (bearer string, body []byte, err error) {
	s.mu.Lock()
	for i := range s.state.Messages {
		if s.state.Messages[i].ID == m.ID {
			s.state.Messages[i].Acknowledged = true
		}
	}
	s.mu.Unlock()
	if bearer, err = s.SignPush(s.PushClaims()); err != nil {
		return "", nil, err
	}
	body, err = m.Body()
	return bearer, body, err
}

// PushClaims returns the claims that a valid push message has now.
func (s *Store) PushClaims() PushClaims {
	s.mu.Lock()
	defer s.mu.Unlock()
	return PushClaims{
		Claims: jwt.Claims{
			Issuer: pushIssuer, Subject: "100000000000000000001", Audience: jwt.Audience{s.state.Audience},
			IssuedAt: jwt.NewNumericDate(s.state.Now), Expiry: jwt.NewNumericDate(s.state.Now.Add(pushTokenAge)),
		},
		Email: s.state.PushAccount, EmailVerified: true,
	}
}

// SignPush signs claims with the store's key of push messages.
func (s *Store) SignPush(claims PushClaims) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, err := s.key(&s.state.PushKey)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: s.pushKeyName()}}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(claims).Serialize()
}

// wireMessage is a message as Pub/Sub writes it. Pushes have both spellings of its id.
func wireMessage(m Message) map[string]any {
	at := m.PublishedAt.UTC().Format(time.RFC3339Nano)
	return map[string]any{
		"data": base64.StdEncoding.EncodeToString(m.Data), "messageId": m.ID, "message_id": m.ID,
		"publishTime": at, "publish_time": at,
	}
}

// serveKeys answers with the public keys of push messages.
func (s *Store) serveKeys(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	key, err := s.key(&s.state.PushKey)
	name := s.pushKeyName()
	s.mu.Unlock()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "backendError", "no key")
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=3600")
	answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: name, Algorithm: "RS256", Use: "sig"}}})
}
