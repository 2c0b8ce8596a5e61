package countersign

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrWebhook is wrapped by the error of every webhook that is not genuine.
var ErrWebhook = errors.New("countersign: invalid webhook")

// webhookTolerance is how far the time of a webhook may be from now.
const webhookTolerance = 5 * time.Minute

// WebhookVerifier checks that webhooks come from your addon. They are signed in the Standard Webhooks form: the
// header webhook-signature has the HMAC-SHA256 of webhook-id, webhook-timestamp and the body under a secret.
type WebhookVerifier struct {
	// Secrets are those of the endpoint, as the addon showed them: whsec_ and base64. While a secret is rotated, list
	// the new one and the old one.
	Secrets []string
	// Now is the present time; nil is time.Now.
	Now func() time.Time
}

// Verify returns nil when a webhook was signed with one of the secrets no more than 5 minutes ago. body is the body of the
// request as it was received, byte for byte. A webhook may arrive several times: its header webhook-id is the same
// each time. Other errors than [ErrWebhook] are about the secrets.
func (v WebhookVerifier) Verify(header http.Header, body []byte) error {
	id, stamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if id == "" || err != nil {
		return fmt.Errorf("%w: its headers webhook-id and webhook-timestamp are missing or malformed", ErrWebhook)
	}
	now := time.Now
	if v.Now != nil {
		now = v.Now
	}
	if age := now().Sub(time.Unix(seconds, 0)); age > webhookTolerance || age < -webhookTolerance {
		return fmt.Errorf("%w: its time is more than %s from now", ErrWebhook, webhookTolerance)
	}
	for _, secret := range v.Secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return errors.New("countersign: invalid webhook secret: expected whsec_ and base64")
		}
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body) // never returns an error
		if hasSignature(header.Get("Webhook-Signature"), mac.Sum(nil)) {
			return nil
		}
	}
	return fmt.Errorf("%w: none of its signatures is valid", ErrWebhook)
}

// hasSignature reports whether a list of signatures, separated by spaces, has one of version 1 that is want.
func hasSignature(list string, want []byte) bool {
	for one := range strings.FieldsSeq(list) {
		text, isV1 := strings.CutPrefix(one, "v1,")
		signature, err := base64.StdEncoding.DecodeString(text)
		if isV1 && err == nil && hmac.Equal(signature, want) {
			return true
		}
	}
	return false
}
