package playdoc_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/conformance/playdoc"
)

func TestAPurchaseIsActiveAndWaitsForItsAcknowledgement(t *testing.T) {
	s := open(t)
	token := s.buy(playdoc.Purchase{Account: "a1", Profile: "p1"})
	got := s.wantState(token, "ACTIVE", 4)
	s.wantExpiry(got, "2026-02-28T12:00:00.000Z")
	item := got.LineItems[0]
	switch {
	case got.AcknowledgementState != "ACKNOWLEDGEMENT_STATE_PENDING", got.StartTime != "2026-01-31T12:00:00.000Z", got.TestPurchase != nil:
		t.Errorf("%+v", got)
	case got.ExternalAccountIdentifiers.ObfuscatedExternalAccountID != "a1", got.ExternalAccountIdentifiers.ObfuscatedExternalProfileID != "p1":
		t.Errorf("%+v", got.ExternalAccountIdentifiers)
	case item.ProductID != "gold", !item.AutoRenewingPlan.AutoRenewEnabled, item.OfferDetails.BasePlanID != "monthly", item.OfferPhase.BasePrice == nil:
		t.Errorf("%+v", item)
	case item.AutoRenewingPlan.RecurringPrice.Units != 3, item.LatestSuccessfulOrderID != s.LastOrder(token):
		t.Errorf("%+v", item)
	}
	s.acknowledge(token)
	s.acknowledge(token)
	if got := s.get(token); got.AcknowledgementState != "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" {
		t.Errorf("%+v", got)
	}
}

func TestAnUnacknowledgedPurchaseIsRefundedAndRevoked(t *testing.T) {
	s := open(t)
	token := s.buy(playdoc.Purchase{})
	short := s.buy(playdoc.Purchase{Product: "gold", Plan: "days"})
	s.now = s.now.Add(36 * time.Hour)
	s.wantState(short, "EXPIRED", 4, 4, 0, 12)
	s.due(token)
	if want := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC); !s.now.Equal(want) {
		t.Errorf("due at %s", s.now)
	}
	if got := s.wantState(token, "EXPIRED", 0, 12); got.CanceledStateContext.SystemInitiatedCancellation == nil {
		t.Errorf("%+v", got.CanceledStateContext)
	}
}

func TestARenewalMovesTheExpiryAndStaysOnTheLastDay(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{})
	first := s.LastOrder(token)
	for _, want := range []string{"2026-03-28T12:00:00.000Z", "2026-04-28T12:00:00.000Z"} {
		s.do(s.Renew(token))
		s.wantExpiry(s.get(token), want)
	}
	s.wantState(token, "ACTIVE", 4, 2, 2)
	if got := s.LastOrder(token); got != first+"..1" {
		t.Errorf("order %s after %s", got, first)
	}
}

func TestADeclinedRenewalPassesThroughGraceAndHoldToItsEnd(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{})
	s.now = time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
	s.do(s.Decline(token))
	s.wantState(token, "ACTIVE", 4) // the silent period
	s.due(token)
	got := s.wantState(token, "IN_GRACE_PERIOD", 6)
	s.wantExpiry(got, "2026-03-07T12:00:00.000Z")
	order := got.InGracePeriodStateContext.RenewalDeclined.PendingOrderID
	if order == "" || order == s.LastOrder(token) || !got.LineItems[0].AutoRenewingPlan.AutoRenewEnabled {
		t.Errorf("pending order %q", order)
	}
	s.due(token)
	got = s.wantState(token, "ON_HOLD", 5)
	s.wantExpiry(got, "2026-03-07T12:00:00.000Z")
	if got.OnHoldStateContext.RenewalDeclined.PendingOrderID != order || got.InGracePeriodStateContext != nil {
		t.Errorf("%+v", got.OnHoldStateContext)
	}
	s.due(token)
	if want := time.Date(2026, 4, 29, 12, 0, 0, 0, time.UTC); !s.now.Equal(want) {
		t.Errorf("the hold ends at %s", s.now) // 60 days minus 7 of grace
	}
	s.wantState(token, "EXPIRED", 3, 13)
	if state := s.want(200, "GET", "orders/"+order, "")["state"]; state != "CANCELED" {
		t.Errorf("the order is %v", state)
	}
}

func TestAPlanWithoutGraceIsSilentForADayAndThenOnHold(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{Product: "gold", Plan: "strict"})
	s.do(s.Decline(token))
	s.due(token)
	s.wantState(token, "ON_HOLD", 4, 5)
}

func TestRecoveryKeepsTheDateInGraceAndMovesItOnHold(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{})
	s.do(s.Decline(token))
	s.due(token)
	s.do(s.Recover(token))
	s.wantExpiry(s.wantState(token, "ACTIVE", 4, 6, 2), "2026-03-28T12:00:00.000Z")
	s.do(s.Decline(token))
	s.due(token)
	s.due(token)
	s.now = time.Date(2026, 4, 10, 12, 0, 0, 0, time.UTC)
	pending := s.wantState(token, "ON_HOLD", 6, 5).OnHoldStateContext.RenewalDeclined.PendingOrderID
	s.do(s.Recover(token))
	got := s.wantState(token, "ACTIVE", 1)
	s.wantExpiry(got, "2026-05-10T12:00:00.000Z")
	if s.LastOrder(token) != pending || got.OnHoldStateContext != nil {
		t.Errorf("order %s, pending was %s", s.LastOrder(token), pending)
	}
}

func TestACancellationKeepsAccessUntilTheExpiryAndIsRestored(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{})
	s.do(s.Cancel(token))
	got := s.wantState(token, "CANCELED", 4, 3)
	if got.CanceledStateContext.UserInitiatedCancellation.CancelTime != "2026-01-31T12:00:00.000Z" || got.LineItems[0].AutoRenewingPlan.AutoRenewEnabled {
		t.Errorf("%+v", got.CanceledStateContext)
	}
	s.do(s.Restore(token))
	if got := s.wantState(token, "ACTIVE", 7); got.CanceledStateContext != nil || !got.LineItems[0].AutoRenewingPlan.AutoRenewEnabled {
		t.Errorf("%+v", got.CanceledStateContext)
	}
	s.do(s.Cancel(token))
	s.due(token)
	s.wantState(token, "EXPIRED", 3, 13)
	if s.Restore(token) == nil || s.Renew(token) == nil {
		t.Error("an expired subscription was restored or renewed")
	}
	s.now = s.now.AddDate(0, 0, 61)
	if answer := s.want(410, "GET", "purchases/subscriptionsv2/tokens/"+token, ""); reason(answer) != "subscriptionPurchaseNoLongerAvailable" {
		t.Errorf("%v", answer)
	}
}

func TestAPauseBeginsAtTheExpiryAndEndsByItself(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{})
	s.do(s.Pause(token, 2))
	s.wantState(token, "ACTIVE", 4, 11)
	s.due(token)
	got := s.wantState(token, "PAUSED", 10)
	if got.PausedStateContext.AutoResumeTime != "2026-04-28T12:00:00.000Z" || !got.LineItems[0].AutoRenewingPlan.AutoRenewEnabled {
		t.Errorf("%+v", got.PausedStateContext)
	}
	s.due(token)
	s.wantExpiry(s.wantState(token, "ACTIVE", 1), "2026-05-28T12:00:00.000Z")
	s.do(s.Pause(token, 1))
	s.due(token)
	s.now = s.now.AddDate(0, 0, 3)
	s.do(s.Resume(token))
	s.wantExpiry(s.wantState(token, "ACTIVE", 11, 10, 1), "2026-06-30T12:00:00.000Z")
	s.do(s.Pause(token, 1))
	s.due(token)
	s.do(s.Decline(token))
	s.due(token)
	s.wantState(token, "ON_HOLD", 11, 10, 5)
	if s.Pause(token, 4) == nil {
		t.Error("a pause of four months was allowed")
	}
}

func TestAPendingPurchaseIsGrantedWhenItIsPaid(t *testing.T) {
	s := open(t)
	token := s.buy(playdoc.Purchase{Pending: true})
	got := s.wantState(token, "PENDING")
	if got.StartTime != "" || got.LineItems[0].ExpiryTime != "" || got.LineItems[0].LatestSuccessfulOrderID != "" {
		t.Errorf("%+v", got)
	}
	s.want(400, "POST", "purchases/subscriptions/gold/tokens/"+token+":acknowledge", "{}")
	s.now = s.now.Add(time.Hour)
	s.do(s.Pay(token))
	s.wantState(token, "ACTIVE", 4)
	other := s.buy(playdoc.Purchase{Pending: true})
	s.do(s.Decline(other))
	s.wantState(other, "PENDING_PURCHASE_CANCELED", 20)
}

func TestATopUpAddsItsTimeAndRetiresTheOldToken(t *testing.T) {
	s := open(t)
	old := s.acknowledged(playdoc.Purchase{Product: "gold", Plan: "prepaid"})
	if s.Cancel(old) == nil {
		t.Error("a prepaid plan was canceled")
	}
	token := s.acknowledged(playdoc.Purchase{Product: "gold", Plan: "prepaid", Linked: old})
	got := s.wantState(token, "ACTIVE", 4, 4, 13)
	s.wantExpiry(got, "2026-03-28T12:00:00.000Z")
	if got.LinkedPurchaseToken != old || got.LineItems[0].PrepaidPlan.AllowExtendAfterTime != "2026-02-28T12:00:00.000Z" || got.LineItems[0].AutoRenewingPlan != nil {
		t.Errorf("%+v", got.LineItems[0])
	}
	if got := s.wantState(old, "EXPIRED"); got.CanceledStateContext != nil {
		t.Errorf("%+v", got.CanceledStateContext)
	}
	s.due(token)
	s.wantState(token, "EXPIRED", 13)
}
