package play_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

const appURL = "https://androidpublisher.googleapis.com/androidpublisher/v3/applications/com.example.app/"

// recorded returns the options of a client, and the requests to the API that it has sent.
func recorded(t *testing.T) (o play.Options, sent *[]string) {
	t.Helper()
	s := newStore(t)
	o, sent = optionsOf(t, s), &[]string{}
	inner := s.Transport()
	o.URL, o.Transport = "", roundTripper(func(r *http.Request) (*http.Response, error) {
		if path, ok := strings.CutPrefix(r.URL.String(), appURL); ok {
			body := must.Get(io.ReadAll(r.Body))(t)
			*sent = append(*sent, strings.TrimSpace(r.Method+" "+path+" "+string(body)))
		}
		return inner.RoundTrip(r)
	})
	return o, sent
}

func TestRequestsAreThoseOfGooglesClient(t *testing.T) {
	file := must.Get(os.ReadFile("testdata/requests.txt"))(t)
	o, sent := recorded(t)
	c, ctx := openWith(t, o), t.Context()
	_ = c.Acknowledge(ctx, "gold", "TOKEN", "", "")
	_, _ = c.Subscription(ctx, "TOKEN")
	_, _ = c.Defer(ctx, "TOKEN", "ETAG", 24*time.Hour)
	_ = c.Cancel(ctx, "TOKEN", play.StopPayments)
	_, _ = c.Orders(ctx, []string{"ORDER", "OTHER"})
	_ = c.ReviewRefund(ctx, "ORDER", "REVIEW", play.DeclineRefund, false)
	_ = c.Revoke(ctx, "TOKEN", play.FullRefund)
	_, _, _ = c.Voided(ctx, time.UnixMilli(1), time.Time{}, "")
	_ = c.RefundOrder(ctx, "OTHER", true)
	_, _ = c.Products(ctx)
	_, _ = c.OneTime(ctx, "ONCE")
	_ = c.AcknowledgeOneTime(ctx, "coins", "ONCE")
	_ = c.Consume(ctx, "coins", "ONCE")
	_, _ = c.OneTimeProducts(ctx)
	_, want, _ := strings.Cut(string(file), "\n")
	if got := strings.Join(*sent, "\n") + "\n"; got != want {
		t.Errorf("sent:\n%s\nwant:\n%s", got, want)
	}
}

func TestPartsOfPathsAreEscaped(t *testing.T) {
	o, sent := recorded(t)
	c := openWith(t, o)
	_ = c.Acknowledge(t.Context(), "a b/../c", "t:x+~", "<a>", "p")
	_ = c.RefundOrder(t.Context(), "GPA?a#b", false)
	want := `POST purchases/subscriptions/a%20b%2F..%2Fc/tokens/t%3Ax%2B~:acknowledge?alt=json&prettyPrint=false ` +
		`{"externalAccountIds":{"obfuscatedAccountId":"\u003ca\u003e","obfuscatedProfileId":"p"}}` + "\n" +
		`POST orders/GPA%3Fa%23b:refund?alt=json&prettyPrint=false&revoke=false`
	if got := strings.Join(*sent, "\n"); got != want {
		t.Errorf("sent:\n%s\nwant:\n%s", got, want)
	}
}
