// Package hook sends webhooks in the Standard Webhooks form: signed, to an address that
// somebody typed, without letting it reach the private network of this server.
package hook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	secretPrefix = "whsec_"
	secretSize   = 32 // bytes
)

// Secret is the key of an endpoint's signatures, in bytes.
type Secret []byte

// NewSecret returns a random secret.
func NewSecret() Secret {
	s := make(Secret, secretSize)
	rand.Read(s) // never returns an error
	return s
}

// Text is the form in which the owner of an endpoint receives the secret: whsec_ and base64.
func (s Secret) Text() string { return secretPrefix + base64.StdEncoding.EncodeToString(s) }

// String keeps the secret out of texts and logs that are made by accident.
func (Secret) String() string { return "(webhook secret)" }

// sign returns the signature of a message, of version 1.
func (s Secret) sign(id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, s)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, unix(at), body) // never returns an error
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signatures lists those under all secrets, separated by spaces.
func signatures(secrets []Secret, id string, at time.Time, body []byte) string {
	list := make([]string, len(secrets))
	for i, s := range secrets {
		list[i] = s.sign(id, at, body)
	}
	return strings.Join(list, " ")
}

func unix(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
