package play_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

const day = 24 * time.Hour

// buyAcknowledged buys a subscription and acknowledges it.
func buyAcknowledged(t *testing.T, s *playfake.Store, c *play.Client, o playfake.BuyOptions) string {
	t.Helper()
	token := buy(t, s, o)
	must.Do(t, c.Acknowledge(t.Context(), "gold_monthly", token, "", ""))
	return token
}

func TestAPendingPurchaseCantBeAcknowledged(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buy(t, s, playfake.BuyOptions{Pending: true})
	wantReason(t, c.Acknowledge(t.Context(), "gold_monthly", token, "", ""), play.Refused)
}

// A proxy, or the sign-in page of a network, may answer in Google's place.
func TestOnlyGooglesOwnAnswerIsAnAcknowledgement(t *testing.T) {
	s := newStore(t)
	token := buy(t, s, playfake.BuyOptions{})
	o := optionsOf(t, s)
	inner, status, body := s.Transport(), 0, ""
	o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := inner.RoundTrip(r)
		if err == nil && strings.Contains(r.URL.Path, "applications/") {
			response.StatusCode, response.Body = status, io.NopCloser(strings.NewReader(body))
		}
		return response, err
	})
	c := openWith(t, o)
	for _, answer := range []struct {
		status               int
		body                 string
		acknowledged, refund play.Reason // "" for success
	}{
		{204, "", "", ""},
		{200, "{}\n", "", ""},
		{200, "", play.Unavailable, ""},
		{200, "<html>Sign in</html>", play.Unavailable, play.Unavailable},
		{200, `"ok"`, play.Unavailable, play.Unavailable},
		{202, `{"queued":true}`, play.Unavailable, ""},
	} {
		status, body = answer.status, answer.body
		for _, one := range []struct {
			err  error
			want play.Reason
		}{
			{c.Acknowledge(t.Context(), "gold_monthly", token, "", ""), answer.acknowledged},
			{c.RefundOrder(t.Context(), "GPA.1", false), answer.refund},
		} {
			if one.want != "" {
				wantReason(t, one.err, one.want)
			} else if one.err != nil {
				t.Errorf("%d %q: %v", status, body, one.err)
			}
		}
	}
}

func TestTheAccountOfARepurchaseIsSentWithTheAcknowledgement(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	first := buyAcknowledged(t, s, c, playfake.BuyOptions{Account: "a-1", Profile: "p-1"})
	must.Do(t, s.Expire(first))
	again := must.Get(s.Resubscribe(first))(t)
	found := get(t, c, again)
	if found.OutOfApp == nil || *found.OutOfApp != (play.OutOfApp{ExpiredToken: first, Account: "a-1", Profile: "p-1"}) || found.Account != "" || found.LinkedToken != "" {
		t.Fatalf("the new purchase is %+v, %+v", found, found.OutOfApp)
	}
	must.Do(t, c.Acknowledge(t.Context(), "gold_monthly", again, "a-1", "p-1"))
	if found = get(t, c, again); found.OutOfApp != nil || found.Account != "a-1" || found.Profile != "p-1" || !found.Acknowledged {
		t.Errorf("after the acknowledgement: %+v, %+v", found, found.OutOfApp)
	}
	must.Do(t, c.Acknowledge(t.Context(), "gold_monthly", again, "a-2", ""))
	expect.Equalf(t, get(t, c, again).Account, "a-1", "a second acknowledgement set the account")
}

func TestCancelStopsTheRenewals(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	for kind, by := range map[play.CancelKind]string{play.StopRenewals: "user", play.StopPayments: "developer"} {
		token := buyAcknowledged(t, s, c, playfake.BuyOptions{})
		must.Do(t, c.Cancel(t.Context(), token, kind))
		found := get(t, c, token)
		if found.State != play.Canceled || found.CanceledBy != by || found.Items[0].AutoRenews {
			t.Errorf("%s: %+v", kind, found)
		}
		wantReason(t, c.Cancel(t.Context(), token, kind), play.Refused)
		restored := s.UndoCancel(token) == nil
		if restored != (kind == play.StopRenewals) {
			t.Errorf("%s: restored: %t", kind, restored)
		}
	}
	wantReason(t, c.Cancel(t.Context(), "any-token-of-a-purchase", "other"), play.Refused)
}

func TestRevokeEndsAtOnceAndRefunds(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	for refund, state := range map[play.Refund]string{play.FullRefund: "refunded", play.ProratedRefund: "partially_refunded"} {
		token := buyAcknowledged(t, s, c, playfake.BuyOptions{})
		must.Do(t, c.Revoke(t.Context(), token, refund))
		if found := get(t, c, token); found.State != play.Expired || found.Items[0].ExpiresAt.After(s.Now()) {
			t.Errorf("%s: %+v", refund, found)
		}
		if orders, err := c.Orders(t.Context(), s.Orders(token)); err != nil || orders[0].State != state {
			t.Errorf("%s: the order is %+v, %v", refund, orders, err)
		}
		wantReason(t, c.Revoke(t.Context(), token, refund), play.Refused)
	}
	wantReason(t, c.Revoke(t.Context(), "any-token-of-a-purchase", "other"), play.Refused)
}

func TestDeferMovesTheRenewal(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buyAcknowledged(t, s, c, playfake.BuyOptions{})
	before := get(t, c, token)
	until, err := c.Defer(t.Context(), token, before.ETag, 10*day)
	must.Do(t, err)
	if want := before.Items[0].ExpiresAt.Add(10 * day); !until.Equal(want) || !get(t, c, token).Items[0].ExpiresAt.Equal(want) {
		t.Errorf("it ends at %v, want %v", until, want)
	}
	_, err = c.Defer(t.Context(), token, before.ETag, 10*day)
	wantReason(t, err, play.Refused) // the etag is that of the state before
	for _, by := range []time.Duration{0, time.Hour, 366 * day} {
		_, err = c.Defer(t.Context(), token, before.ETag, by)
		wantReason(t, err, play.Refused)
	}
}

func TestOrdersSayWhatWasPaid(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buyAcknowledged(t, s, c, playfake.BuyOptions{OfferID: "trial"})
	s.Advance(8 * day)
	ids := s.Orders(token)
	orders := must.Get(c.Orders(t.Context(), ids))(t)
	if len(orders) != 2 {
		t.Fatalf("%d orders, want 2", len(orders))
	}
	trial, paid := orders[0], orders[1]
	if trial.ID != ids[0] || trial.Total.Units != 0 || trial.Total.Nanos != 0 || trial.State != "processed" || trial.Token != token {
		t.Errorf("the trial is %+v, total %+v", trial, trial.Total)
	}
	if *paid.Total != (play.Money{Currency: "EUR", Units: 4, Nanos: 990_000_000}) || *paid.Tax != (play.Money{Currency: "EUR", Units: 0, Nanos: 830_000_000}) ||
		paid.Revenue.Units != 3 || paid.ProductID != "gold_monthly" || paid.BasePlanID != "monthly" || paid.CreatedAt.IsZero() {
		t.Errorf("the order is %+v: total %+v, tax %+v, revenue %+v", paid, paid.Total, paid.Tax, paid.Revenue)
	}
	_, err := c.Orders(t.Context(), []string{ids[0], "GPA.0000-0000-0000-00000"})
	wantReason(t, err, play.Refused)
	if none, err := c.Orders(t.Context(), nil); err != nil || none != nil {
		t.Errorf("no ids: %v, %v", none, err)
	}
	_, err = c.Orders(t.Context(), make([]string, play.MaxOrders+1))
	wantReason(t, err, play.Refused)
}

func TestARefundWithoutRevokeIsNotInTheVoidedList(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	kept, revoked := buyAcknowledged(t, s, c, playfake.BuyOptions{}), buyAcknowledged(t, s, c, playfake.BuyOptions{})
	must.Do(t, c.RefundOrder(t.Context(), s.Orders(kept)[0], false))
	must.Do(t, c.RefundOrder(t.Context(), s.Orders(revoked)[0], true))
	if a, b := get(t, c, kept).State, get(t, c, revoked).State; a != play.Active || b != play.Expired {
		t.Errorf("the states are %s and %s", a, b)
	}
	list, next, err := c.Voided(t.Context(), time.Time{}, time.Time{}, "")
	must.Do(t, err)
	if len(list) != 1 || next != "" || list[0].OrderID != s.Orders(revoked)[0] || list[0].Token != revoked || list[0].Source != 1 || !list[0].VoidedAt.Equal(s.Now()) {
		t.Errorf("the list is %+v, next %q", list, next)
	}
	orders := must.Get(c.Orders(t.Context(), []string{s.Orders(kept)[0]}))(t)
	expect.Equalf(t, orders[0].State, "refunded", "the order")
	wantReason(t, c.RefundOrder(t.Context(), s.Orders(kept)[0], false), play.Refused)
	wantReason(t, c.RefundOrder(t.Context(), "GPA.0", false), play.Refused)
}

func TestTheVoidedListIsReadPageByPage(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	old := buyAcknowledged(t, s, c, playfake.BuyOptions{})
	must.Do(t, s.Revoke(old))
	s.Advance(time.Hour)
	since := s.Now()
	const entries = 1003
	for range entries {
		must.Do(t, s.Revoke(buy(t, s, playfake.BuyOptions{})))
	}
	seen := map[string]bool{}
	pages, next := 0, ""
	for {
		list, following, err := c.Voided(t.Context(), since, s.Now(), next)
		must.Do(t, err)
		for _, v := range list {
			seen[v.OrderID] = true
		}
		if pages++; following == "" {
			break
		}
		next = following
	}
	if len(seen) != entries || pages != 2 || seen[s.Orders(old)[0]] {
		t.Errorf("%d entries on %d pages", len(seen), pages)
	}
	s.Advance(31 * day)
	if list, _, err := c.Voided(t.Context(), time.Time{}, time.Time{}, ""); err != nil || len(list) != 0 {
		t.Errorf("after a month: %d entries, %v", len(list), err)
	}
}

func TestProductsAreTheCatalogue(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	must.Do(t, s.AddProduct(playfake.Product{ID: "old", Title: "Old", Plans: []playfake.Plan{{ID: "weekly", Kind: playfake.AutoRenewing, State: "INACTIVE", Period: "P1W"}}}))
	list := must.Get(c.Products(t.Context()))(t)
	at := slices.IndexFunc(list, func(p play.Product) bool { return p.ID == "gold_monthly" })
	if len(list) != 4 || at < 0 || list[at].Title != "Gold" {
		t.Fatalf("the products are %+v", list)
	}
	want := []play.BasePlan{
		{ID: "monthly", State: "active", Kind: "auto_renewing", Period: "P1M"},
		{ID: "yearly", State: "active", Kind: "auto_renewing", Period: "P1Y"},
		{ID: "prepaid", State: "active", Kind: "prepaid", Period: "P1M"},
		{ID: "installments", State: "active", Kind: "installments", Period: "P1M", Payments: 12},
	}
	if !slices.Equal(list[at].BasePlans, want) {
		t.Errorf("the plans are %+v, want %+v", list[at].BasePlans, want)
	}
	expect.Equalf(t, list[3].BasePlans[0].State, "inactive", "the state of the old plan")
}
