package playfake_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play/playfake"
)

const (
	apiScope   = "https://www.googleapis.com/auth/androidpublisher"
	googleAud  = "https://oauth2.googleapis.com/token"
	apiBase    = "/androidpublisher/v3/applications/com.example.app"
	fakeIssuer = "simulated@simulated.iam.gserviceaccount.com"
)

// claims are those of an assertion.
type claims struct {
	jwt.Claims
	Scope string `json:"scope"`
}

// assertion signs an assertion as the service account does, after a change.
func assertion(t *testing.T, s *shop, change func(c *claims)) string {
	t.Helper()
	c := claims{Scope: apiScope, Claims: jwt.Claims{
		Issuer: fakeIssuer, Audience: jwt.Audience{googleAud}, IssuedAt: jwt.NewNumericDate(s.Now()), Expiry: jwt.NewNumericDate(s.Now().Add(time.Hour)),
	}}
	change(&c)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: testKey()}, nil)
	s.must(err)
	text, err := jwt.Signed(signer).Claims(c).Serialize()
	s.must(err)
	return text
}

// exchange posts an assertion and returns the status and the answer.
func exchange(t *testing.T, base, text string) (status int, answer map[string]any) {
	t.Helper()
	response := must.Get(http.PostForm(base+"/token", url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {text}}))(t)
	defer response.Body.Close()
	must.Do(t, json.NewDecoder(response.Body).Decode(&answer))
	return response.StatusCode, answer
}

// call makes a request of the API and returns the status and the body.
func call(t *testing.T, method, address, token string) (int, string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, address, nil))(t)
	r.Header.Set("Authorization", "Bearer "+token)
	response := must.Get(http.DefaultClient.Do(r))(t)
	defer response.Body.Close()
	body := must.Get(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(body)
}

func TestTheTokenEndpointChecksTheAssertion(t *testing.T) {
	s := newShop(t)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	if status, answer := exchange(t, server.URL, assertion(t, s, func(*claims) {})); status != 200 || answer["expires_in"] != 3600.0 {
		t.Fatalf("a valid assertion: %d, %v", status, answer)
	}
	for name, change := range map[string]func(c *claims){
		"another audience": func(c *claims) { c.Audience = jwt.Audience{"https://evil.example/token"} },
		"another issuer":   func(c *claims) { c.Issuer = "other@example.com" },
		"no scope":         func(c *claims) { c.Scope = "" },
		"no expiry":        func(c *claims) { c.Expiry = nil },
		"no date":          func(c *claims) { c.IssuedAt = nil },
		"expired":          func(c *claims) { c.Expiry = jwt.NewNumericDate(s.Now().Add(-2 * time.Minute)) },
		"for too long":     func(c *claims) { c.Expiry = jwt.NewNumericDate(s.Now().Add(61 * time.Minute)) },
		"from the future":  func(c *claims) { c.IssuedAt = jwt.NewNumericDate(s.Now().Add(2 * time.Minute)) },
	} {
		if status, answer := exchange(t, server.URL, assertion(t, s, change)); status != 400 || answer["error"] != "invalid_grant" {
			t.Errorf("%s: %d, %v", name, status, answer)
		}
	}
	valid := assertion(t, s, func(*claims) {})
	if status, _ := exchange(t, server.URL, valid[:len(valid)-8]+"AAAAAAAA"); status != 400 {
		t.Errorf("another signature: %d", status)
	}
}

func TestTheAPINeedsAnAccessTokenForItsScope(t *testing.T) {
	s := newShop(t)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	purchase := s.buy(playfake.BuyOptions{})
	address := server.URL + apiBase + "/purchases/subscriptionsv2/tokens/" + purchase
	_, answer := exchange(t, server.URL, assertion(t, s, func(*claims) {}))
	token := answer["access_token"].(string)
	_, answer = exchange(t, server.URL, assertion(t, s, func(c *claims) { c.Scope = "https://www.googleapis.com/auth/pubsub" }))
	other := answer["access_token"].(string)
	for _, test := range []struct {
		token  string
		status int
		text   string
	}{{token, 200, "SUBSCRIPTION_STATE_ACTIVE"}, {"made-up", 401, "authError"}, {"", 401, "authError"}, {other, 403, "insufficientPermissions"}} {
		if status, body := call(t, "GET", address, test.token); status != test.status || !strings.Contains(body, test.text) {
			t.Errorf("%d, want %d: %s", status, test.status, body)
		}
	}
	s.Advance(time.Hour)
	if status, _ := call(t, "GET", address, token); status != 401 {
		t.Errorf("after an hour: %d", status)
	}
}

func TestAnswersHaveGooglesForm(t *testing.T) {
	s := newShop(t)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	purchase := s.buy(playfake.BuyOptions{})
	order := s.Orders(purchase)[0]
	s.must(s.Revoke(purchase))
	_, answer := exchange(t, server.URL, assertion(t, s, func(*claims) {}))
	token := answer["access_token"].(string)
	for _, test := range []struct {
		method, path string
		status       int
		text         string
	}{
		{"GET", apiBase + "/orders/" + order, 200, `"state":"REFUNDED"`},
		{"GET", apiBase + "/orders/GPA.0", 404, "orderNotFound"},
		{"GET", apiBase + "/orders:batchGet", 400, "badRequest"},
		{"GET", apiBase + "/purchases/voidedpurchases?type=1", 200, order},
		{"GET", apiBase + "/purchases/voidedpurchases", 200, "{}"}, // only one-time products
		{"GET", apiBase + "/subscriptions?pageSize=1", 200, `"nextPageToken":"1"`},
		{"GET", apiBase + "/subscriptions?pageSize=1&pageToken=2", 200, "extra_storage"},
		{"GET", apiBase + "/purchases/subscriptionsv2/tokens/short", 400, `"reason":"invalid"`},
		{"GET", apiBase + "/purchases/subscriptionsv2/tokens/unknown-but-long-enough", 404, "purchaseTokenNotFound"},
		{"GET", "/androidpublisher/v3/applications/com.example.other/subscriptions", 404, "applicationNotFound"},
		{"POST", apiBase + "/purchases/subscriptionsv2/tokens/" + purchase + ":cancel", 400, "badRequest"},
		{"POST", apiBase + "/purchases/subscriptionsv2/tokens/" + purchase + ":revoke", 400, "badRequest"},
		{"POST", apiBase + "/purchases/subscriptionsv2/tokens/" + purchase + ":explode", 404, ""},
		{"POST", apiBase + "/purchases/subscriptions/p/tokens/" + purchase + ":acknowledge", 400, "failedPrecondition"},
		{"GET", "/somewhere", 404, ""},
	} {
		status, body := call(t, test.method, server.URL+test.path, token)
		if status != test.status || !strings.Contains(body, test.text) {
			t.Errorf("%s %s: %d, want %d with %q: %s", test.method, test.path, status, test.status, test.text, body)
		}
	}
}

func TestAStoreServesManyAtOnce(t *testing.T) {
	s := newShop(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				token, err := s.Buy(playfake.BuyOptions{ProductID: "gold_monthly"})
				if err != nil {
					t.Error(err)
					return
				}
				_ = s.client.Acknowledge(t.Context(), "gold_monthly", token, "", "")
				if _, err := s.client.Subscription(t.Context(), token); err != nil {
					t.Error(err)
				}
				s.Advance(time.Second) // all with one access token
				if _, err := s.Snapshot(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	expect.Equalf(t, len(s.Messages()), 160, "notifications")
}

func TestAStoreKeepsTheLastThousandMessages(t *testing.T) {
	s := newShop(t)
	first := s.SendTest()
	for range 1000 {
		s.SendTest()
	}
	all := s.Messages()
	if len(all) != 1000 || all[0].ID == first.ID {
		t.Errorf("%d messages, the first is %s", len(all), all[0].ID)
	}
}

func TestACatalogueIsChecked(t *testing.T) {
	plan := playfake.Plan{ID: "p", Kind: playfake.AutoRenewing, Period: "P1M"}
	for name, change := range map[string]func(p *playfake.Product){
		"no id": func(p *playfake.Product) { p.ID = "" }, "no plan": func(p *playfake.Product) { p.Plans = nil },
		"an unknown kind":   func(p *playfake.Product) { p.Plans[0].Kind = "free" },
		"an unknown period": func(p *playfake.Product) { p.Plans[0].Period = "1 month" },
		"an empty period":   func(p *playfake.Product) { p.Plans[0].Period = "P" },
		"a broken offer": func(p *playfake.Product) {
			p.Plans[0].Offers = []playfake.Offer{{ID: "o", Phases: []playfake.Phase{{Kind: playfake.FreeTrial}}}}
		},
	} {
		broken := playfake.Product{ID: "x", Plans: []playfake.Plan{plan}}
		change(&broken)
		if _, err := playfake.New(playfake.Options{Products: []playfake.Product{broken}}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
