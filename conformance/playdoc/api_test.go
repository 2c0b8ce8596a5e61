package playdoc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/conformance/playdoc"
	"github.com/countersign/countersign/internal/play/publisher"
)

func TestErrorsAreInGooglesEnvelope(t *testing.T) {
	s := open(t)
	token := s.buy(playdoc.Purchase{})
	subscription := "purchases/subscriptionsv2/tokens/" + token
	for _, c := range []struct {
		status                     int
		method, path, body, reason string
	}{
		{404, "GET", "purchases/subscriptionsv2/tokens/unknown", "", "notFound"},
		{400, "GET", "purchases/subscriptionsv2/tokens/not%20a%20token", "", "invalidValue"},
		{404, "GET", "purchases/nothing", "", "notFound"},
		{404, "PUT", subscription, "", "notFound"},
		{400, "POST", subscription + ":cancel", "{}", "required"},
		{400, "POST", subscription + ":cancel", `{"cancellationContext":{"cancellationType":"CANCELLATION_TYPE_UNSPECIFIED"}}`, "invalidValue"},
		{400, "POST", subscription + ":cancel", `{"cancelationContext":{}}`, "invalidValue"},
		{400, "POST", subscription + ":cancel", `{`, "invalidValue"},
		{400, "POST", subscription + ":revoke", `{"revocationContext":{}}`, "required"},
		{400, "POST", subscription + ":revoke", `{"revocationContext":{"fullRefund":{},"proratedRefund":{}}}`, "required"},
		{400, "POST", subscription + ":revoke", `{"revocationContext":{"itemBasedRefund":{"productId":"platinum"}}}`, "invalidValue"},
		{400, "POST", subscription + ":defer", `{"deferralContext":{"deferDuration":"86400s"}}`, "required"},
		{409, "POST", subscription + ":defer", `{"deferralContext":{"deferDuration":"86400s","etag":"old"}}`, "concurrentUpdate"},
		{400, "POST", subscription + ":defer", `{"deferralContext":{"deferDuration":"3600s","etag":"old"}}`, "invalidValue"},
		{400, "POST", "purchases/subscriptions/platinum/tokens/" + token + ":acknowledge", `{}`, "invalidValue"},
		{404, "GET", "orders/GPA.0000", "", "notFound"},
		{400, "GET", "orders:batchGet", "", "required"},
		{404, "GET", "orders:batchGet?orderIds=a&orderIds=" + s.LastOrder(token), "", "notFound"},
		{400, "GET", "purchases/voidedpurchases?endTime=99999999999999", "", "invalidValue"},
		{400, "GET", "subscriptions?pageSize=x", "", "invalidValue"},
	} {
		answer := s.want(c.status, c.method, c.path, c.body)
		e, _ := answer["error"].(map[string]any)
		if e["code"] != float64(c.status) || e["message"] == "" || e["status"] == "" || reason(answer) != c.reason {
			t.Errorf("%s %s: %v", c.method, c.path, answer)
		}
	}
	if status, answer := s.send("GET", "/androidpublisher/v3/applications/other.app/"+subscription, ""); status != 404 {
		t.Errorf("%d %s", status, answer)
	}
	s.Withdraw(playdoc.ViewFinancial)
	if answer := s.want(403, "GET", subscription, ""); reason(answer) != "userInsufficientPermission" {
		t.Errorf("%v", answer)
	}
	s.Withdraw()
	s.want(200, "GET", subscription, "")
	s.token = "forged"
	if answer := s.want(401, "GET", subscription, ""); reason(answer) != "authError" {
		t.Errorf("%v", answer)
	}
}

func TestTheDeveloperCancelsForTheUserOrForGood(t *testing.T) {
	s := open(t)
	body := `{"cancellationContext":{"cancellationType":"%s"}}`
	token := s.acknowledged(playdoc.Purchase{})
	s.want(200, "POST", "purchases/subscriptionsv2/tokens/"+token+":cancel", fmt.Sprintf(body, "USER_REQUESTED_STOP_RENEWALS"))
	if got := s.wantState(token, "CANCELED", 4, 3); got.CanceledStateContext.UserInitiatedCancellation == nil {
		t.Errorf("%+v", got.CanceledStateContext)
	}
	s.do(s.Restore(token))
	s.want(200, "POST", "purchases/subscriptionsv2/tokens/"+token+":cancel", fmt.Sprintf(body, "DEVELOPER_REQUESTED_STOP_PAYMENTS"))
	if got := s.wantState(token, "CANCELED", 7, 3); got.CanceledStateContext.DeveloperInitiatedCancellation == nil {
		t.Errorf("%+v", got.CanceledStateContext)
	}
	if s.Restore(token) == nil {
		t.Error("a developer's cancellation was restored")
	}
	s.want(400, "POST", "purchases/subscriptionsv2/tokens/"+token+":cancel", fmt.Sprintf(body, "USER_REQUESTED_STOP_RENEWALS"))
}

func TestADeferralMovesTheExpiry(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{})
	etag := s.wantState(token, "ACTIVE", 4).Etag
	for _, dry := range []bool{true, false} {
		body := fmt.Sprintf(`{"deferralContext":{"deferDuration":"172800s","etag":"%s","validateOnly":%v}}`, etag, dry)
		status, answer := s.send("POST", "/androidpublisher/v3/applications/com.example.app/purchases/subscriptionsv2/tokens/"+token+":defer", body)
		got := &publisher.DeferSubscriptionPurchaseResponse{}
		readAnswer(t, answer, got)
		if status != 200 || len(got.ItemExpiryTimeDetails) != 1 || got.ItemExpiryTimeDetails[0].ExpiryTime != "2026-03-02T12:00:00.000Z" {
			t.Fatalf("%d %s", status, answer)
		}
		if dry {
			s.wantExpiry(s.wantState(token, "ACTIVE"), "2026-02-28T12:00:00.000Z")
		}
	}
	got := s.wantState(token, "ACTIVE", 9)
	s.wantExpiry(got, "2026-03-02T12:00:00.000Z")
	if got.Etag == etag {
		t.Error("the etag did not change")
	}
}

func TestARevocationRefundsAndEndsAtOnce(t *testing.T) {
	s := open(t)
	for kind, state := range map[string]string{"fullRefund": "REFUNDED", "proratedRefund": "PARTIALLY_REFUNDED"} {
		token := s.acknowledged(playdoc.Purchase{})
		s.now = s.now.AddDate(0, 0, 14) // half of the period
		s.want(200, "POST", "purchases/subscriptionsv2/tokens/"+token+":revoke", `{"revocationContext":{"`+kind+`":{}}}`)
		got := s.wantState(token, "EXPIRED", 4, 0, 12)
		if got.CanceledStateContext.DeveloperInitiatedCancellation == nil || got.LineItems[0].ExpiryTime > s.now.Format("2006-01-02T15:04:05.000Z") {
			t.Errorf("%+v", got)
		}
		s.want(400, "POST", "purchases/subscriptionsv2/tokens/"+token+":revoke", `{"revocationContext":{"fullRefund":{}}}`)
		if order := s.order(s.LastOrder(token)); order.State != state {
			t.Errorf("%s: %s", kind, order.State)
		}
	}
}

// order returns an order, which has to be as Google writes it.
func (s *store) order(id string) *publisher.Order {
	s.t.Helper()
	status, answer := s.send("GET", "/androidpublisher/v3/applications/com.example.app/orders/"+id, "")
	if status != 200 {
		s.t.Fatalf("%d: %s", status, answer)
	}
	got := &publisher.Order{}
	readAnswer(s.t, answer, got)
	wantNoDefaults(s.t, "order", decode(s.t, answer))
	return got
}

func TestARefundEndsTheAccessOnlyWhenAskedAndOfTheLastOrder(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{})
	first := s.LastOrder(token)
	s.do(s.Renew(token))
	s.want(204, "POST", "orders/"+first+":refund?revoke=true", "")
	s.wantState(token, "ACTIVE", 4, 2, 0)
	s.want(400, "POST", "orders/"+first+":refund", "")
	got, raw := s.order(first), s.want(200, "GET", "orders/"+first, "")
	if got.State != "REFUNDED" || at(raw, "orderHistory", "refundEvent", "refundDetails", "total", "units") != "3" || got.Total.Units != 3 || got.PurchaseToken != token {
		t.Errorf("%+v", got)
	}
	if d := got.LineItems[0].SubscriptionDetails; d.BasePlanID != "monthly" || d.ServicePeriodEndTime != "2026-02-28T12:00:00.000Z" ||
		at(raw, "lineItems", 0, "subscriptionDetails", "offerPhaseDetails", "baseDetails") == nil {
		t.Errorf("%+v", d)
	}
	last := s.LastOrder(token)
	batch := &publisher.BatchGetOrdersResponse{}
	_, answer := s.send("GET", "/androidpublisher/v3/applications/com.example.app/orders:batchGet?orderIds="+last+"&orderIds="+first, "")
	readAnswer(t, answer, batch)
	if len(batch.Orders) != 2 || batch.Orders[0].OrderID != last || batch.Orders[1].OrderID != first {
		t.Errorf("%s", answer)
	}
	s.do(s.Refund(last, false))
	s.wantState(token, "ACTIVE", 0)
	listed := &publisher.VoidedPurchasesListResponse{}
	_, answer = s.send("GET", "/androidpublisher/v3/applications/com.example.app/purchases/voidedpurchases?type=1", "")
	readAnswer(t, answer, listed)
	if len(listed.VoidedPurchases) != 1 || listed.VoidedPurchases[0].OrderID != first {
		t.Errorf("a refund without a revocation is listed: %s", answer)
	}
	other := s.acknowledged(playdoc.Purchase{})
	s.do(s.Refund(s.LastOrder(other), true))
	s.wantState(other, "EXPIRED", 4, 0, 12)
	charged := s.acknowledged(playdoc.Purchase{})
	s.do(s.Chargeback(s.LastOrder(charged)))
	s.wantState(charged, "EXPIRED", 4, 0, 12)
	if got := s.order(s.LastOrder(charged)); got.OrderHistory.RefundEvent.RefundReason != "CHARGEBACK" {
		t.Errorf("%+v", got.OrderHistory.RefundEvent)
	}
}

func TestVoidedPurchasesAreListedInPagesForThirtyDays(t *testing.T) {
	s := open(t)
	tokens := []string{}
	for range 3 {
		token := s.acknowledged(playdoc.Purchase{})
		s.do(s.Revoke(token))
		tokens = append(tokens, token)
	}
	s.do(s.Chargeback(s.LastOrder(s.acknowledged(playdoc.Purchase{}))))
	if got := s.voided(""); len(got.VoidedPurchases) != 0 {
		t.Errorf("%+v", got.VoidedPurchases)
	}
	page, raw := s.voided("type=1&maxResults=3"), s.want(200, "GET", "purchases/voidedpurchases?type=1&maxResults=3", "")
	if len(page.VoidedPurchases) != 3 || at(raw, "pageInfo", "totalResults") != 4.0 || page.TokenPagination == nil {
		t.Fatalf("%+v", page)
	}
	v := page.VoidedPurchases[0]
	if v.PurchaseToken != tokens[0] || v.OrderID != s.LastOrder(tokens[0]) || v.VoidedTimeMillis != s.now.UnixMilli() || v.VoidedSource != 1 || v.VoidedReason != 0 {
		t.Errorf("%+v", v)
	}
	page = s.voided("type=1&maxResults=3&token=" + page.TokenPagination.NextPageToken)
	if len(page.VoidedPurchases) != 1 || page.VoidedPurchases[0].VoidedReason != 7 || page.TokenPagination != nil {
		t.Errorf("%+v", page)
	}
	if got := s.voided(fmt.Sprintf("type=1&startTime=%d", s.now.UnixMilli()+1)); len(got.VoidedPurchases) != 0 {
		t.Errorf("%+v", got)
	}
	s.now = s.now.AddDate(0, 0, 31)
	if got := s.voided("type=1&startTime=0"); len(got.VoidedPurchases) != 0 {
		t.Errorf("%+v", got)
	}
}

func (s *store) voided(query string) *publisher.VoidedPurchasesListResponse {
	s.t.Helper()
	status, answer := s.send("GET", "/androidpublisher/v3/applications/com.example.app/purchases/voidedpurchases?"+query, "")
	if status != 200 {
		s.t.Fatalf("%d: %s", status, answer)
	}
	got := &publisher.VoidedPurchasesListResponse{}
	readAnswer(s.t, answer, got)
	return got
}

func TestTheCatalogueIsListedInPages(t *testing.T) {
	s := open(t)
	query, seen := "?pageSize=1", []string{}
	for query != "" {
		_, answer := s.send("GET", "/androidpublisher/v3/applications/com.example.app/subscriptions"+query, "")
		got := &publisher.ListSubscriptionsResponse{}
		readAnswer(t, answer, got)
		if len(got.Subscriptions) != 1 {
			t.Fatalf("%s", answer)
		}
		for _, plan := range got.Subscriptions[0].BasePlans {
			seen = append(seen, got.Subscriptions[0].ProductID+"/"+plan.BasePlanID)
		}
		if first := got.Subscriptions[0].BasePlans[0].AutoRenewingBasePlanType; first.BillingPeriodDuration != "P1M" || first.GracePeriodDuration != "P7D" ||
			at(decode(t, answer), "subscriptions", 0, "basePlans", 0, "autoRenewingBasePlanType", "accountHoldDuration") != "P53D" {
			t.Errorf("%+v", first)
		}
		if query = ""; got.NextPageToken != "" {
			query = "?pageSize=1&pageToken=" + got.NextPageToken
		}
	}
	if got := strings.Join(seen, " "); got != "gold/monthly gold/strict gold/installments gold/prepaid gold/days platinum/monthly" {
		t.Error(got)
	}
}
