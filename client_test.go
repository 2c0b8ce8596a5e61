package countersign

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestRequests(t *testing.T) {
	tests := []struct {
		rule              string
		call              func(*Client) error
		method, uri, body string
	}{
		{
			rule: "account", method: "GET", uri: "/shop/api/account/details",
			call: func(c *Client) error { _, err := c.Account(t.Context()); return err },
		},
		{
			rule: "items", method: "GET", uri: "/shop/api/items/all",
			call: func(c *Client) error { _, err := c.Items(t.Context()); return err },
		},
		{
			rule: "item", method: "GET", uri: "/shop/api/items/item?item_id=1229",
			call: func(c *Client) error { _, err := c.Item(t.Context(), 1229); return err },
		},
		{
			rule: "validation", method: "POST", uri: "/shop/api/purchases/validation", body: `{"purchase_code":"A&\"B\""}`,
			call: func(c *Client) error { _, err := c.ValidatePurchase(t.Context(), `A&"B"`); return err },
		},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			s := serve(t, odd{body: `{"status":"success","items":[],"item":{},"data":{"purchase":{}}}`})
			c := s.once()
			c.BaseURL, c.Key = s.URL+"/shop/", " "+testKey+"\n"
			must.Do(t, tt.call(c))
			got := s.requests()
			if len(got) != 1 || got[0].method != tt.method || got[0].uri != tt.uri || got[0].body != tt.body {
				t.Fatalf("sent %+v", got)
			}
			h := got[0].header
			if h.Get("X-Api-Key") != testKey || h.Get("Accept") != "application/json" || !strings.HasPrefix(h.Get("User-Agent"), "countersign-go") {
				t.Errorf("headers %v", h)
			}
			if isPost := tt.body != ""; isPost != (h.Get("Content-Type") == "application/json") {
				t.Errorf("content type %q", h.Get("Content-Type"))
			}
		})
	}
}

func TestAccount(t *testing.T) {
	c := answering(t, odd{body: `{"status":"success","data":{"name":{"firstname":"Ada"},"balance":-120.5,"profile":{"social_links":[]},"registered_at":"2024-09-27 13:53:47"}}`})
	got, err := c.Account(t.Context())
	if err != nil || got.Name.Firstname != "Ada" || got.Balance != -12050 || got.RegisteredAt.String() != "2024-09-27T13:53:47Z" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got.Profile.SocialLinks == nil || len(got.Profile.SocialLinks) != 0 {
		t.Errorf("an empty array gives the links %#v, want an empty map", got.Profile.SocialLinks)
	}
}

func TestItems(t *testing.T) {
	code := map[string]string{"X-Error-Code": CodeNoItems}
	tests := []struct {
		rule    string
		answer  odd
		want    []Version
		refused bool
	}{
		{rule: "bare versions", answer: odd{body: `{"status":"success","items":[{"version":1.2.3},{"version":2.0},{"version":"x"}]}`}, want: []Version{"1.2.3", "2.0", "x"}},
		{rule: "an empty list", answer: odd{body: `{"status":"success","items":[]}`}},
		{rule: "no items found is an empty list", answer: odd{status: 404, body: envelope("No items found")}},
		{rule: "in other letters too", answer: odd{body: envelope("No Items Found")}},
		{rule: "the code says it too", answer: odd{status: 404, header: code, body: envelope("Nothing here")}},
		{rule: "but not on a page", answer: odd{status: 404, header: code, body: page}, refused: true},
		{rule: "nor with 401", answer: odd{status: 401, body: envelope("No items found")}, refused: true},
		{rule: "nor with 503", answer: odd{status: 503, body: envelope("No items found")}, refused: true},
		{rule: "a missing list is no list", answer: odd{body: `{"status":"success"}`}, refused: true},
		{rule: "another refusal", answer: odd{status: 404, body: envelope("Not found")}, refused: true},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := answering(t, tt.answer).Items(t.Context())
			if (err != nil) != tt.refused || (got == nil) != tt.refused || len(got) != len(tt.want) {
				t.Fatalf("got %#v, %v", got, err)
			}
			for i, want := range tt.want {
				expect.Equalf(t, got[i].Version, want, "item %d has the version", i)
			}
		})
	}
}

func TestItemThatDoesNotExist(t *testing.T) {
	for _, status := range []int{404, 200} {
		c := answering(t, odd{status: status, header: map[string]string{"X-Request-Id": "r-1"}, body: envelope("Item Not Found")})
		_, err := c.Item(t.Context(), 1)
		var refused *Error
		if !errors.As(err, &refused) || refused.Kind != KindNotFound || refused.Status != status || refused.RequestID != "r-1" {
			t.Errorf("HTTP %d: got %#v", status, err)
		}
	}
}

func TestNotJSON(t *testing.T) {
	long := "<html>" + testKey + strings.Repeat("x", 1000)
	_, err := answering(t, odd{status: 404, body: long}).Account(t.Context())
	var odd *NotJSONError
	if !errors.As(err, &odd) || odd.Status != 404 || len(odd.Body) != 200 || !strings.HasPrefix(odd.Body, "<html>[key]xxx") {
		t.Errorf("got %#v", err)
	}
}

func TestAnswersAreLimited(t *testing.T) {
	account := `{"status":"success","data":{"username":"ada"}}`
	if _, err := answering(t, odd{body: pad(account, maxAnswer)}).Account(t.Context()); err != nil {
		t.Errorf("an answer of 1 MiB: %v", err)
	}
	if _, err := answering(t, odd{body: pad(account, maxAnswer+1)}).Account(t.Context()); !errors.Is(err, ErrAnswerTooLarge) {
		t.Errorf("an answer of 1 MiB and a byte: %v", err)
	}
	if _, err := answering(t, odd{body: pad(`{"status":"success","items":[]}`, 2*maxAnswer)}).Items(t.Context()); err != nil {
		t.Errorf("items of 2 MiB: %v", err)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		target := serve(t, odd{body: validated("A")})
		here := serve(t, odd{status: status, header: map[string]string{"Location": target.URL + "/?k=" + testKey}})
		_, err := here.once().ValidatePurchase(t.Context(), "A")
		var redirect *RedirectError
		if !errors.As(err, &redirect) || redirect.Status != status || redirect.Location != target.URL+"/?k=[key]" {
			t.Errorf("HTTP %d: got %v", status, err)
		}
		if err != nil && !strings.Contains(err.Error(), target.URL) {
			t.Errorf("HTTP %d: the error does not say where it points: %v", status, err)
		}
		if n := len(target.requests()); n != 0 {
			t.Errorf("HTTP %d: the other server got %d requests", status, n)
		}
	}
}

func TestCutAnswer(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"status":"success"`))
	}))
	if v, err := s.once().ValidatePurchase(t.Context(), "A"); verdictOf(v, err) != cannotTell {
		t.Errorf("got %+v, %v", v, err)
	}
}

func TestNobodyThere(t *testing.T) {
	c := &Client{BaseURL: "http://127.0.0.1:1", Key: testKey, Retries: -1}
	v, err := c.ValidatePurchase(t.Context(), "A")
	var network *net.OpError
	if verdictOf(v, err) != cannotTell || !errors.As(err, &network) {
		t.Errorf("got %+v, %v", v, err)
	}
}

func TestBaseURLMustBeOne(t *testing.T) {
	for _, bad := range []string{"", "shop.example", "ftp://shop.example", "https://", "https://shop.example?api_key=" + testKey, "https://shop.example#x", ":"} {
		c := &Client{BaseURL: bad, Key: testKey}
		if _, err := c.Account(t.Context()); err == nil || strings.Contains(err.Error(), testKey) {
			t.Errorf("base URL %q: %v", bad, err)
		}
	}
}

func TestTimeoutIsTheCallers(t *testing.T) {
	if got := (&Client{}).httpClient(operation{}).Timeout; got != 10*time.Second {
		t.Errorf("without a client of the caller's an attempt may take %v, want 10s", got)
	}
	theirs := &http.Client{Timeout: time.Minute}
	if got := (&Client{HTTP: theirs}).httpClient(operation{}).Timeout; got != time.Minute || theirs.CheckRedirect != nil {
		t.Errorf("the caller's timeout became %v, or the caller's client was changed", got)
	}
}

// TestKeyStaysSecret sends the key back from everywhere a server can put text, and prints the client in every way.
func TestKeyStaysSecret(t *testing.T) {
	inQuery := "csk_0123456789%2Fabcdefghijklmnopqrstuvwxyz"
	echoes := []odd{
		{status: 401, body: envelope("unknown key " + testKey)},
		{status: 401, body: envelope("unknown key " + inQuery)},
		{status: 401, header: map[string]string{"X-Error-Code": testKey, "X-Request-Id": testKey}, body: envelope("no")},
		{status: 500, body: page + testKey},
		{status: 200, body: strings.Repeat("x", 190) + testKey},
		{status: 302, header: map[string]string{"Location": "/?api_key=" + inQuery}},
		{status: 200, body: `{"status":"success","data":{"balance":"` + testKey + `","purchase":{"price":"` + testKey + `"}}}`},
	}
	for _, o := range echoes {
		c := answering(t, o)
		_, err := c.Account(t.Context())
		_, errValidatePurchase := c.ValidatePurchase(t.Context(), "A")
		if err == nil || errValidatePurchase == nil {
			t.Fatalf("%+v: no error", o)
		}
		noKey(t, fmt.Sprintf("%v %+v %#v %v %+v %#v", err, err, err, errValidatePurchase, errValidatePurchase, errValidatePurchase))
		var refused *Error
		if errors.As(err, &refused) {
			noKey(t, fmt.Sprintf("%+v %#v", *refused, refused))
		}
	}
	c := Client{BaseURL: "https://ada:" + testKey + "@shop.example", Key: testKey}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		noKey(t, fmt.Sprintf(verb, c)+fmt.Sprintf(verb, &c))
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "client", c)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "client", &c)
	noKey(t, log.String())
	c.BaseURL = "https://ada:secret@shop.example/shop"
	if got, want := c.String(), "countersign.Client{https://ada:xxxxx@shop.example/shop}"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func noKey(t *testing.T, s string) {
	t.Helper()
	if strings.Contains(s, "csk_") || strings.Contains(s, "0123456789") {
		t.Errorf("the key is in %s", s)
	}
}
