package countersign_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

// The example of the Standard Webhooks libraries.
const (
	webhookSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	webhookBody      = `{"test": 2432232314}`
	webhookSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

func TestWebhooksAreVerified(t *testing.T) {
	sent := time.Unix(1614265330, 0)
	for _, c := range []struct {
		rule   string
		change func(h http.Header)
		body   string
		now    time.Time
		valid  bool
	}{
		{"a genuine webhook", nil, webhookBody, sent, true},
		{"one of several signatures is valid", func(h http.Header) {
			h.Set("Webhook-Signature", "v1a,x v2,y v1,bm90IHRoaXM= "+webhookSignature)
		}, webhookBody, sent, true},
		{"five minutes late", nil, webhookBody, sent.Add(5 * time.Minute), true},
		{"later", nil, webhookBody, sent.Add(5*time.Minute + time.Second), false},
		{"from the future", nil, webhookBody, sent.Add(-5*time.Minute - time.Second), false},
		{"another body", nil, webhookBody + " ", sent, false},
		{"another id", func(h http.Header) { h.Set("Webhook-Id", "msg_2") }, webhookBody, sent, false},
		{"another time", func(h http.Header) { h.Set("Webhook-Timestamp", "1614265331") }, webhookBody, sent, false},
		{"no time", func(h http.Header) { h.Del("Webhook-Timestamp") }, webhookBody, sent, false},
		{"no id", func(h http.Header) { h.Del("Webhook-Id") }, webhookBody, sent, false},
		{"no signature", func(h http.Header) { h.Del("Webhook-Signature") }, webhookBody, sent, false},
		{"an empty signature", func(h http.Header) { h.Set("Webhook-Signature", "v1,") }, webhookBody, sent, false},
		{"a signature of another version", func(h http.Header) { h.Set("Webhook-Signature", "v2"+webhookSignature[2:]) }, webhookBody, sent, false},
	} {
		h := http.Header{}
		h.Set("Webhook-Id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
		h.Set("Webhook-Timestamp", "1614265330")
		h.Set("Webhook-Signature", webhookSignature)
		if c.change != nil {
			c.change(h)
		}
		other := "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		v := countersign.WebhookVerifier{Secrets: []string{other, webhookSecret}, Now: func() time.Time { return c.now }}
		err := v.Verify(h, []byte(c.body))
		if (err == nil) != c.valid || err != nil && !errors.Is(err, countersign.ErrWebhook) {
			t.Errorf("%s: %v", c.rule, err)
		}
		v.Secrets = []string{other}
		if err := v.Verify(h, []byte(c.body)); !errors.Is(err, countersign.ErrWebhook) {
			t.Errorf("%s: with another secret: %v", c.rule, err)
		}
	}
}

func TestAWebhookSecretThatCanNotBeReadIsNoForgery(t *testing.T) {
	h := http.Header{"Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {"1614265330"}}
	for _, secret := range []string{"", "whsec_", "whsec_***"} {
		v := countersign.WebhookVerifier{Secrets: []string{secret}, Now: func() time.Time { return time.Unix(1614265330, 0) }}
		if err := v.Verify(h, nil); err == nil || errors.Is(err, countersign.ErrWebhook) {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

func ExampleWebhookVerifier() {
	verifier := countersign.WebhookVerifier{
		Secrets: []string{webhookSecret},                              // of the webhook, as the addon showed it
		Now:     func() time.Time { return time.Unix(1614265330, 0) }, // only here; leave it out
	}
	received := http.Header{}
	received.Set("Webhook-Id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
	received.Set("Webhook-Timestamp", "1614265330")
	received.Set("Webhook-Signature", webhookSignature)

	fmt.Println(verifier.Verify(received, []byte(webhookBody)))
	fmt.Println(verifier.Verify(received, []byte("{}")))
	// Output:
	// <nil>
	// countersign: invalid webhook: none of its signatures is valid
}

// Nobody without the secret makes a webhook that is valid.
func FuzzWebhookVerifier(f *testing.F) {
	f.Add("msg_1", "1614265330", webhookSignature, webhookBody)
	f.Add("", "", "v1, v1,=", "")
	f.Fuzz(func(t *testing.T, id, stamp, signature, body string) {
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {signature}}
		v := countersign.WebhookVerifier{Secrets: []string{"whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}, Now: func() time.Time { return time.Unix(1614265330, 0) }}
		if err := v.Verify(h, []byte(body)); !errors.Is(err, countersign.ErrWebhook) {
			t.Errorf("%v", err)
		}
	})
}
