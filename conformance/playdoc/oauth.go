package playdoc

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	accountEmail = "play@example.iam.gserviceaccount.com"
	jwtGrant     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	// googleToken is the audience that the documentation names.
	googleToken = "https://oauth2.googleapis.com/token"
	// publisherScope is the one scope of the API (Reference).
	publisherScope = "https://www.googleapis.com/auth/androidpublisher"
	tokenLifetime  = time.Hour
)

// Account returns the JSON key file of the service account. Its token endpoint is tokenURL,
// or Google's when that is empty.
func (p *Play) Account(tokenURL string) []byte {
	if tokenURL == "" {
		tokenURL = googleToken
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key, err := x509.MarshalPKCS8PrivateKey(p.options.AccountKey)
	if err != nil {
		panic(err) // an RSA key can always be written
	}
	file, _ := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "example", "client_email": accountEmail, "client_id": "100000000000000000001",
		"private_key_id": fmt.Sprintf("account-%d", p.accountKeys), "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		"token_uri": tokenURL,
	})
	return file
}

// ReplaceAccountKey deletes the key of the service account and creates another one, or takes
// the one of the caller. No assertion with the deleted key is accepted any more, but access
// tokens that were issued for it stay valid until they end (IAM, delete).
func (p *Play) ReplaceAccountKey(key *rsa.PrivateKey) error {
	if key == nil {
		var err error
		if key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options.AccountKey = key
	p.accountKeys++
	return nil
}

// serveToken exchanges a signed assertion for an access token of an hour (OAuth).
func (p *Play) serveToken(w http.ResponseWriter, r *http.Request) {
	code, description := p.checkGrant(r)
	if code != "" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": description})
		return
	}
	token := "ya29.c." + random(60, base64s)
	p.access[token] = p.now().Add(tokenLifetime)
	write(w, map[string]any{"access_token": token, "expires_in": int(tokenLifetime.Seconds()), "token_type": "Bearer"}, nil)
}

// checkGrant returns the error of a request for a token, "" for none. The claims are those
// of OAuth: issuer, audience, scope, and an hour at most. Chosen: the codes of each fault
// beyond invalid_grant, and that the endpoint's own address is an audience too.
func (p *Play) checkGrant(r *http.Request) (code, description string) {
	if r.Method != http.MethodPost || r.ParseForm() != nil || r.PostForm.Get("grant_type") != jwtGrant {
		return "unsupported_grant_type", "Only the grant of signed assertions is supported."
	}
	var claims struct {
		Issuer   string `json:"iss"`
		Audience string `json:"aud"`
		Scope    string `json:"scope"`
		Issued   int64  `json:"iat"`
		Expires  int64  `json:"exp"`
	}
	if err := verify(r.PostForm.Get("assertion"), &p.options.AccountKey.PublicKey, &claims); err != nil {
		return "invalid_grant", "Invalid signature of the assertion."
	}
	now := p.now()
	audience, err := url.Parse(claims.Audience)
	forThisServer := err == nil && audience.Host == r.Host && audience.Path == r.URL.Path
	switch {
	case claims.Issuer != accountEmail:
		return "invalid_grant", "No such account."
	case !forThisServer && claims.Audience != googleToken:
		return "invalid_grant", "The audience is not the token endpoint."
	case !now.Before(time.Unix(claims.Expires, 0)), time.Unix(claims.Issued, 0).After(now.Add(5 * time.Minute)), claims.Expires-claims.Issued > 3600:
		return "invalid_grant", "The assertion is not of now, or is valid for more than 60 minutes."
	case !slices.Contains(strings.Fields(claims.Scope), publisherScope):
		return "invalid_scope", "The scope of the API is missing."
	}
	return "", ""
}

// sign writes a JWT with RS256.
func sign(claims any, key *rsa.PrivateKey, keyID string) (string, error) {
	header, _ := json.Marshal(map[string]string{"alg": "RS256", "kid": keyID, "typ": "JWT"})
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(body)
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// verify reads a JWT with RS256.
func verify(token string, key *rsa.PublicKey, claims any) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("not a JWT")
	}
	decoded := make([][]byte, 3)
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return err
		}
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	if err := json.Unmarshal(decoded[0], &header); err != nil || header.Algorithm != "RS256" {
		return errors.New("not signed with RS256")
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], decoded[2]); err != nil {
		return err
	}
	return json.Unmarshal(decoded[1], claims)
}
