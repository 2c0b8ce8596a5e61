package playdoc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2/jwt"

	"github.com/countersign/countersign/conformance/playdoc"
	"github.com/countersign/countersign/internal/play/publisher"
)

const scope = "https://www.googleapis.com/auth/androidpublisher"

var products = []playdoc.Product{
	{ID: "gold", Title: "Gold", Plans: []playdoc.Plan{
		{ID: "monthly", Period: "P1M", Price: playdoc.Money{Currency: "USD", Units: 3}, Offers: []playdoc.Offer{
			{ID: "trial", Trial: true, Period: "P1W"}, {ID: "intro", Period: "P1M", Price: playdoc.Money{Currency: "USD", Units: 1}},
		}},
		{ID: "strict", Period: "P1M", Grace: "P0D", Hold: "P30D", Price: playdoc.Money{Currency: "USD", Units: 3}},
		{ID: "installments", Period: "P1M", Payments: 3, Price: playdoc.Money{Currency: "USD", Units: 2}},
		{ID: "prepaid", Period: "P1M", Prepaid: true, Price: playdoc.Money{Currency: "USD", Units: 4}},
		{ID: "days", Period: "P3D", Prepaid: true, Price: playdoc.Money{Currency: "USD", Nanos: 990_000_000}},
	}},
	{ID: "platinum", Title: "Platinum", Plans: []playdoc.Plan{{ID: "monthly", Period: "P1M", Price: playdoc.Money{Currency: "USD", Units: 6}}}},
}

// store is a simulation behind a listener, and a clock that the test sets.
type store struct {
	t   *testing.T
	now time.Time
	*playdoc.Play
	url   string
	token string // an access token
}

// accountKey and pushKey are those of all stores.
var accountKey, pushKey = sync.OnceValue(newKey), sync.OnceValue(newKey)

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

func open(t *testing.T) *store {
	t.Helper()
	s := &store{t: t, now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	play, err := playdoc.New(playdoc.Options{Products: products, OneTime: []playdoc.OneTimeProduct{{ID: "coins", Title: "Coins", Option: "buy", Price: playdoc.Money{Currency: "USD", Units: 1}}}, AccountKey: accountKey(), PushKey: pushKey(), Now: func() time.Time { return s.now }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(play)
	t.Cleanup(server.Close)
	s.Play, s.url = play, server.URL
	s.authorize()
	return s
}

// authorize takes an access token for a file of the account, before any purchase. The library
// signs with the real time, so the clock is set to it for a moment; the token outlives all
// times of the tests, which are earlier.
func (s *store) authorize() {
	s.t.Helper()
	before := s.now
	s.now = time.Now()
	token, err := s.signIn().TokenSource(s.t.Context()).Token()
	if err != nil {
		s.t.Fatal(err)
	}
	s.now, s.token = before, token.AccessToken
}

// signIn is what Go's library signs assertions with, for the file of the account.
func (s *store) signIn() *jwt.Config {
	file := decode(s.t, s.Account(s.url+"/token"))
	text := func(name string) string { value, _ := file[name].(string); return value }
	return &jwt.Config{
		Email: text("client_email"), PrivateKey: []byte(text("private_key")), PrivateKeyID: text("private_key_id"),
		Scopes: []string{scope}, TokenURL: text("token_uri"),
	}
}

func (s *store) buy(b playdoc.Purchase) string {
	s.t.Helper()
	if b.Product == "" {
		b.Product, b.Plan = "gold", "monthly"
	}
	token, err := s.Buy(b)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// acknowledged buys and acknowledges.
func (s *store) acknowledged(b playdoc.Purchase) string {
	s.t.Helper()
	token := s.buy(b)
	s.acknowledge(token)
	return token
}

func (s *store) acknowledge(token string) {
	s.t.Helper()
	s.want(204, "POST", "purchases/subscriptions//tokens/"+token+":acknowledge", `{}`)
}

// do runs an act that has to succeed.
func (s *store) do(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// due sets the clock to the time at which the clock changes a subscription next.
func (s *store) due(token string) {
	s.t.Helper()
	if s.now = s.Due(token); s.now.IsZero() {
		s.t.Fatal("nothing is due")
	}
}

// want sends a raw request to the API and returns the answer, which has to have the status.
func (s *store) want(status int, method, path, body string) map[string]any {
	s.t.Helper()
	got, answer := s.send(method, "/androidpublisher/v3/applications/com.example.app/"+path, body)
	if got != status {
		s.t.Fatalf("%s %s: %d, %s", method, path, got, answer)
	}
	if status == 204 {
		return nil
	}
	return decode(s.t, answer)
}

func (s *store) send(method, path, body string) (int, []byte) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, answer
}

func decode(t *testing.T, text []byte) (object map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return object
}

// get returns a subscription, which has to be as Google writes it.
func (s *store) get(token string) *publisher.SubscriptionPurchaseV2 {
	s.t.Helper()
	status, answer := s.send("GET", "/androidpublisher/v3/applications/com.example.app/purchases/subscriptionsv2/tokens/"+url.PathEscape(token), "")
	if status != 200 {
		s.t.Fatalf("%d: %s", status, answer)
	}
	got := &publisher.SubscriptionPurchaseV2{}
	readAnswer(s.t, answer, got)
	wantNoDefaults(s.t, "subscription", decode(s.t, answer))
	return got
}

// at returns a part of a JSON value, nil for none: members by their names, elements by their index.
func at(value any, path ...any) any {
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[fmt.Sprint(step)]
		case []any:
			value = v[step.(int)]
		default:
			return nil
		}
	}
	return value
}

// wantState compares the state without its prefix, and the types of the notifications since
// the last call; 0 is a voided purchase.
func (s *store) wantState(token, state string, notifications ...int) *publisher.SubscriptionPurchaseV2 {
	s.t.Helper()
	got := s.get(token)
	if got.SubscriptionState != "SUBSCRIPTION_STATE_"+state {
		s.t.Errorf("%s, want %s", got.SubscriptionState, state)
	}
	s.wantNotifications(notifications...)
	return got
}

func (s *store) wantNotifications(want ...int) {
	s.t.Helper()
	got := []int{}
	for _, m := range s.Messages() {
		var n struct {
			Subscription struct {
				Type int `json:"notificationType"`
			} `json:"subscriptionNotification"`
		}
		if err := json.Unmarshal(m.Data, &n); err != nil {
			s.t.Fatal(err)
		}
		got = append(got, n.Subscription.Type)
	}
	if len(got) != len(want) {
		s.t.Errorf("notifications %v, want %v", got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			s.t.Errorf("notifications %v, want %v", got, want)
			return
		}
	}
}

func (s *store) wantExpiry(got *publisher.SubscriptionPurchaseV2, want string) {
	s.t.Helper()
	if expiry := got.LineItems[len(got.LineItems)-1].ExpiryTime; expiry != want {
		s.t.Errorf("expires %s, want %s", expiry, want)
	}
}

func reason(answer map[string]any) string {
	text, _ := at(answer, "error", "errors", 0, "reason").(string)
	return text
}
