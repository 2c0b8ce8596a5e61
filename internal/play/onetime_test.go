package play_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

func TestTheLifeOfAOneTimePurchase(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	read := func(token string) play.Subscription {
		t.Helper()
		return must.Get(c.OneTime(t.Context(), token))(t)
	}
	token := buy(t, s, playfake.BuyOptions{ProductID: "gold_pass", Account: "ana", Quantity: 3, Pending: true, Test: true})
	if p := read(token); p.State != play.Pending || !p.OneTime || !p.StartedAt.IsZero() || p.Account != "ana" || !p.Test || p.Items[0].OrderID != "" {
		t.Errorf("%+v", p)
	}
	must.Do(t, s.Pay(token))
	want := play.Item{ProductID: "gold_pass", BasePlanID: "buy", OrderID: s.Orders(token)[0], Quantity: 3}
	if p := read(token); p.State != play.Purchased || p.Acknowledged || !p.StartedAt.Equal(s.Now()) || p.Items[0] != want {
		t.Errorf("%+v", p)
	}
	if _, err := s.Buy(playfake.BuyOptions{ProductID: "gold_pass", Account: "ana"}); err == nil {
		t.Error("an owned product was bought again")
	}
	wantReason(t, c.Consume(t.Context(), "gold_forever", token), play.Refused)
	must.Do(t, c.AcknowledgeOneTime(t.Context(), "gold_pass", token))
	must.Do(t, c.Consume(t.Context(), "gold_pass", token))
	wantReason(t, c.Consume(t.Context(), "gold_pass", token), play.Refused)
	must.Do(t, s.RefundQuantity(token, 1))
	if p := read(token); !p.Acknowledged || !p.Items[0].Consumed || p.Items[0].Quantity != 2 {
		t.Errorf("%+v", p)
	}
	orders := must.Get(c.Orders(t.Context(), s.Orders(token)))(t)
	if o := orders[0]; o.Total.Units != 17 || o.ProductID != "gold_pass" {
		t.Errorf("%+v", o)
	}

	kept := buy(t, s, playfake.BuyOptions{ProductID: "gold_forever"})
	must.Do(t, c.AcknowledgeOneTime(t.Context(), "gold_forever", kept))
	must.Do(t, c.RefundOrder(t.Context(), s.Orders(kept)[0], false))
	if p := read(kept); p.State != play.Purchased || p.Items[0].Quantity != 1 {
		t.Errorf("a refund that leaves the access: %+v", p)
	}
	late := buy(t, s, playfake.BuyOptions{ProductID: "gold_forever"})
	s.Advance(3 * day)
	if p := read(late); p.State != play.Cancelled {
		t.Errorf("nobody acknowledged it: %+v", p)
	}
	list, _, err := c.Voided(t.Context(), time.Time{}, time.Time{}, "")
	if err != nil || len(list) != 1 || list[0].Token != late || list[0].Reason != 8 {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = c.Subscription(t.Context(), token)
	wantReason(t, err, play.TokenNotFound)
	_, err = c.OneTime(t.Context(), buy(t, s, playfake.BuyOptions{}))
	wantReason(t, err, play.TokenNotFound)
}

// Without the time, days would have no end.
func TestAPaidOneTimePurchaseHasItsTime(t *testing.T) {
	s := newStore(t)
	fake := s.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			fake.ServeHTTP(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"purchaseStateContext":{"purchaseState":"PURCHASED"},"productLineItem":[{"productId":"gold_pass"}]}`))
	}))
	defer server.Close()
	o := optionsOf(t, s)
	o.URL = server.URL
	_, err := openWith(t, o).OneTime(t.Context(), strings.Repeat("a", 64))
	wantReason(t, err, play.Unavailable)
}

func TestOneTimeProductsAreACatalogueOfTheirOwn(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	list := must.Get(c.OneTimeProducts(t.Context()))(t)
	want := play.BasePlan{ID: "buy", State: "active", Kind: "buy"}
	if len(list) != 2 || list[0].ID != "gold_forever" || !list[0].OneTime || list[0].Title != "Gold for ever" || !slices.Equal(list[0].BasePlans, []play.BasePlan{want}) {
		t.Errorf("%+v", list)
	}
}
