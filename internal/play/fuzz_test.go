package play_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

func FuzzParsePush(f *testing.F) {
	f.Add(pushBody(`{"packageName":"a.b","eventTimeMillis":"1","subscriptionNotification":{"notificationType":4,"purchaseToken":"T"}}`))
	f.Add(pushBody(`{"packageName":"a.b","voidedPurchaseNotification":{"purchaseToken":"T","orderId":"GPA.1","productType":1,"refundType":1}}`))
	f.Add([]byte(`{"message":{"message_id":"1","data":"e30=","publish_time":"2026-01-01T00:00:00Z"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		n, err := play.ParsePush(body)
		if err != nil {
			if playErr, ok := errors.AsType[*play.Error](err); !ok || playErr.Reason != play.Malformed {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		if n.MessageID == "" || n.Package == "" || n.Kind == "" {
			t.Errorf("incomplete: %+v", n)
		}
		for _, text := range []string{n.MessageID, n.Token, n.ReviewToken, n.OrderID, n.Account, n.Package} {
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
				t.Errorf("a text that can't be stored: %q", text)
			}
		}
	})
}

// FuzzVerifyPush checks that nothing but what the store signed is accepted. Parts of a valid
// token are replaced, because random texts rarely look like one.
func FuzzVerifyPush(f *testing.F) {
	account, key := testKeys()
	s := must.Get(playfake.New(playfake.Options{AccountKey: account, PushKey: key, Audience: "a", PushAccount: "b@c"}))(f)
	bearer := must.Get(s.SignPush(s.PushClaims()))(f)
	v := must.Get(play.NewVerifier(play.VerifierOptions{Audience: "a", Account: "b@c", Now: s.Now, Transport: s.Transport()}))(f)
	parts := strings.Split(bearer, ".")
	f.Add(0, `{"alg":"none"}`)
	f.Add(0, `{"alg":"RS256","kid":"simulated-push-key","b64":false,"crit":["b64"]}`)
	f.Add(1, `{"iss":"accounts.google.com","aud":"a","email":"b@c","email_verified":true,"exp":1e12}`)
	f.Add(2, "")
	f.Fuzz(func(t *testing.T, part int, text string) {
		changed := append([]string{}, parts...)
		i := ((part % 3) + 3) % 3
		changed[i] = base64.RawURLEncoding.EncodeToString([]byte(text))
		for _, token := range []string{strings.Join(changed, "."), text} {
			if token == bearer {
				continue
			}
			if err := v.VerifyPush(t.Context(), token); err == nil {
				t.Errorf("accepted: %q", token)
			}
		}
	})
}

func FuzzServiceAccount(f *testing.F) {
	f.Add([]byte(`{"type":"service_account","client_email":"a@b","private_key":"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		_, err := play.Open(play.Options{ServiceAccount: file, Package: "a.b", Transport: http.DefaultTransport})
		if err == nil {
			t.Error("a made-up key was accepted")
		} else if _, ok := errors.AsType[*play.Error](err); !ok {
			t.Errorf("the error is %v", err)
		}
	})
}
