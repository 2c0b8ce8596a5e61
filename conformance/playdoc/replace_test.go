package playdoc_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/conformance/playdoc"
)

func TestAnUpgradeLinksTheOldTokenAndExpiresIt(t *testing.T) {
	// From the 3rd of February a month has 28 days, and platinum costs twice as much.
	for mode, want := range map[string]string{
		"":                      "2026-02-17T12:00:00.000Z",
		"WITHOUT_PRORATION":     "2026-03-03T12:00:00.000Z",
		"CHARGE_PRORATED_PRICE": "2026-03-03T12:00:00.000Z",
		"CHARGE_FULL_PRICE":     "2026-03-17T12:00:00.000Z",
	} {
		s := open(t)
		s.now = time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
		old := s.buy(playdoc.Purchase{Account: "a"})
		upgrade := playdoc.Purchase{Product: "platinum", Account: "a", Linked: old, Mode: mode}
		if _, err := s.Buy(upgrade); err == nil {
			t.Error("a subscription was replaced before it was acknowledged")
		}
		s.acknowledge(old)
		token := s.buy(upgrade)
		got := s.wantState(token, "ACTIVE", 4, 4, 13)
		s.wantExpiry(got, want)
		replaced := at(s.want(200, "GET", "purchases/subscriptionsv2/tokens/"+token, ""), "lineItems", 0, "itemReplacement", "productId")
		if got.LinkedPurchaseToken != old || replaced != "gold" || got.AcknowledgementState != "ACKNOWLEDGEMENT_STATE_PENDING" {
			t.Errorf("%s: %+v", mode, got)
		}
		if got := s.wantState(old, "EXPIRED"); got.CanceledStateContext.ReplacementCancellation == nil {
			t.Errorf("%s: %+v", mode, got.CanceledStateContext)
		}
	}
}

func TestADeferredReplacementHasTwoItemsUntilItRenews(t *testing.T) {
	s := open(t)
	old := s.acknowledged(playdoc.Purchase{Product: "platinum", Plan: "monthly"})
	token := s.acknowledged(playdoc.Purchase{Product: "gold", Plan: "monthly", Linked: old, Mode: "DEFERRED"})
	got := s.wantState(token, "ACTIVE", 4, 4, 13)
	if len(got.LineItems) != 2 || got.LineItems[0].DeferredItemReplacement.ProductID != "gold" || got.LineItems[0].ExpiryTime != "2026-02-28T12:00:00.000Z" {
		t.Fatalf("%+v", got.LineItems[0])
	}
	if got.LineItems[1].ExpiryTime != "" || got.LineItems[1].LatestSuccessfulOrderID != "" {
		t.Errorf("%+v", got.LineItems[1])
	}
	s.now = time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
	s.do(s.Renew(token))
	got = s.wantState(token, "ACTIVE", 2)
	s.wantExpiry(got, "2026-03-28T12:00:00.000Z")
	if got.LineItems[0].DeferredItemReplacement != nil || !got.LineItems[1].AutoRenewingPlan.AutoRenewEnabled || got.LineItems[0].AutoRenewingPlan.AutoRenewEnabled {
		t.Errorf("%+v", got.LineItems[0])
	}
}

func TestAResubscriptionOutOfTheAppNamesTheExpiredOneUntilItIsAcknowledged(t *testing.T) {
	s := open(t)
	old := s.acknowledged(playdoc.Purchase{Account: "a1"})
	if _, err := s.Buy(playdoc.Purchase{Product: "gold", OutOfApp: old}); err == nil {
		t.Error("a running subscription was bought again")
	}
	s.do(s.Expire(old))
	token := s.buy(playdoc.Purchase{OutOfApp: old})
	got := s.wantState(token, "ACTIVE", 4, 3, 13, 4)
	if got.LinkedPurchaseToken != "" || got.ExternalAccountIdentifiers != nil || got.OutOfAppPurchaseContext.ExpiredPurchaseToken != old ||
		got.OutOfAppPurchaseContext.ExpiredExternalAccountIdentifiers.ObfuscatedExternalAccountID != "a1" {
		t.Errorf("%+v", got)
	}
	s.want(204, "POST", "purchases/subscriptions//tokens/"+token+":acknowledge", `{"externalAccountIds":{"obfuscatedAccountId":"a1"}}`)
	if got := s.get(token); got.OutOfAppPurchaseContext != nil || got.ExternalAccountIdentifiers.ObfuscatedExternalAccountID != "a1" {
		t.Errorf("%+v", got)
	}
	plain := s.buy(playdoc.Purchase{})
	s.want(400, "POST", "purchases/subscriptions/gold/tokens/"+plain+":acknowledge", `{"externalAccountIds":{"obfuscatedAccountId":"a1"}}`)
}

func TestAnOfferIsThePhaseOfTheFirstPeriod(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{Product: "gold", Plan: "monthly", Offer: "trial"})
	got := s.get(token)
	s.wantExpiry(got, "2026-02-07T12:00:00.000Z")
	if got.LineItems[0].OfferPhase.FreeTrial == nil || got.LineItems[0].OfferDetails.OfferID != "trial" {
		t.Errorf("%+v", got.LineItems[0])
	}
	s.do(s.Renew(token))
	if got := s.get(token); got.LineItems[0].OfferPhase.BasePrice == nil {
		t.Errorf("%+v", got.LineItems[0])
	}
}
