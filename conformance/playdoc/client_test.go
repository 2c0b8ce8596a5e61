package playdoc_test

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2/jwt"

	"github.com/countersign/countersign/conformance/playdoc"
)

// The requests are those of Google's generated client.
func TestRequestsOfTheOfficialClientAreAnswered(t *testing.T) {
	file, err := os.ReadFile("../../internal/play/testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t)
	token, other := s.buy(playdoc.Purchase{Account: "a"}), s.acknowledged(playdoc.Purchase{})
	once, err := s.BuyOnce(playdoc.OneTimePurchase{Product: "coins"})
	s.do(err)
	s.Messages()
	s.do(s.ReviewChargeback(s.LastOrder(token)))
	review, _ := at(decode(t, s.Messages()[0].Data), "pendingRefundReviewNotification", "pendingRefundToken").(string)
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.NewReplacer("TOKEN", token, "ETAG", s.get(token).Etag, "ORDER", s.LastOrder(token), "OTHER", s.LastOrder(other), "REVIEW", review, "ONCE", once).Replace(line)
		method, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, body, _ := strings.Cut(rest, " ")
		if status, answer := s.send(method, "/androidpublisher/v3/applications/com.example.app/"+path, body); status != 200 && status != 204 {
			t.Errorf("%s: %d, %s", line, status, answer)
		}
	}
	s.wantOnce(once, "PURCHASED")
	s.wantState(token, "EXPIRED", 9, 3, 0, 12, 0, 12)
	if s.get(other).SubscriptionState != "SUBSCRIPTION_STATE_EXPIRED" || s.ReviewAnswer(s.LastOrder(token)) != "DECLINE" {
		t.Error("a request had no effect")
	}
}

func TestTheTokenEndpointRefusesWrongAssertions(t *testing.T) {
	s := open(t)
	s.now = time.Now()
	for name, c := range map[string]struct {
		change func(*jwt.Config)
		want   string
	}{
		"scope":    {func(c *jwt.Config) { c.Scopes = []string{"https://www.googleapis.com/auth/drive"} }, "invalid_scope"},
		"account":  {func(c *jwt.Config) { c.Email = "other@example.com" }, "invalid_grant"},
		"audience": {func(c *jwt.Config) { c.Audience = "https://example.com/token" }, "invalid_grant"},
		"key": {func(c *jwt.Config) {
			c.PrivateKey = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(pushKey())})
		}, "invalid_grant"},
	} {
		config := s.signIn()
		c.change(config)
		if _, err := config.TokenSource(t.Context()).Token(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	config := s.signIn()
	s.now = s.now.Add(2 * time.Hour)
	if _, err := config.TokenSource(t.Context()).Token(); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("an old assertion: %v", err)
	}
	response, err := http.PostForm(s.url+"/token", url.Values{"grant_type": {"refresh_token"}})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode != 400 || decode(t, body)["error"] != "unsupported_grant_type" {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

func TestAnAccessTokenIsValidForAnHour(t *testing.T) {
	s := open(t)
	s.authorize()
	s.now = time.Now() // after the token was issued
	s.want(200, "GET", "subscriptions", "")
	s.now = s.now.Add(time.Hour)
	s.want(401, "GET", "subscriptions", "")
}

func TestAPushIsSignedWithAKeyOfTheCertificates(t *testing.T) {
	s := open(t)
	token := s.buy(playdoc.Purchase{})
	s.SendTest()
	messages := s.Messages()
	if len(messages) != 2 || messages[0].ID == messages[1].ID || !bytes.Contains(messages[1].Data, []byte(`"testNotification":{"version":"1.0"}`)) {
		t.Fatalf("%s", messages)
	}
	r, err := s.Push("https://example.com/hook", messages[0])
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body)
	var envelope struct {
		Subscription string
		Message      struct {
			Data                   []byte
			MessageID, PublishTime string
		}
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		t.Fatal(err)
	}
	if envelope.Message.MessageID != messages[0].ID || envelope.Message.PublishTime != "2026-01-31T12:00:00.000Z" || envelope.Subscription != "projects/example/subscriptions/play" {
		t.Errorf("%s", body)
	}
	want := `{"version":"1.0","packageName":"com.example.app","eventTimeMillis":"1769860800000","subscriptionNotification":{"version":"1.0","notificationType":4,"purchaseToken":"` + token + `"}}`
	if string(envelope.Message.Data) != want {
		t.Errorf("%s", envelope.Message.Data)
	}
	claims := s.verified(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if claims["iss"] != "https://accounts.google.com" || claims["email_verified"] != true || claims["email"] != "push@example.iam.gserviceaccount.com" ||
		claims["aud"] != "https://example.com/api-addons/notifications/store" || claims["exp"] != float64(s.now.Add(time.Hour).Unix()) {
		t.Errorf("%v", claims)
	}
}

func TestAVoidedPurchaseIsAnnounced(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{})
	s.Messages()
	s.do(s.Refund(s.LastOrder(token), false))
	want := `"voidedPurchaseNotification":{"purchaseToken":"` + token + `","orderId":"` + s.LastOrder(token) + `","productType":1,"refundType":1}`
	if messages := s.Messages(); len(messages) != 1 || !bytes.Contains(messages[0].Data, []byte(want)) {
		t.Errorf("%s", messages)
	}
}

// verified returns the claims of a token that is signed with a key of the certificates.
func (s *store) verified(token string) map[string]any {
	s.t.Helper()
	_, answer := s.send("GET", "/oauth2/v3/certs", "")
	var set struct {
		Keys []struct{ Kid, N, E, Alg string }
	}
	if err := json.Unmarshal(answer, &set); err != nil || len(set.Keys) != 1 || set.Keys[0].Alg != "RS256" {
		s.t.Fatalf("%s, %v", answer, err)
	}
	part := func(text string) []byte {
		decoded, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			s.t.Fatal(err)
		}
		return decoded
	}
	parts := strings.Split(token, ".")
	key := &rsa.PublicKey{N: new(big.Int).SetBytes(part(set.Keys[0].N)), E: int(new(big.Int).SetBytes(part(set.Keys[0].E)).Int64())}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], part(parts[2])); err != nil {
		s.t.Fatal(err)
	}
	if decode(s.t, part(parts[0]))["kid"] != set.Keys[0].Kid {
		s.t.Errorf("%s", part(parts[0]))
	}
	return decode(s.t, part(parts[1]))
}
