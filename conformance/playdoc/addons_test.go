package playdoc_test

import (
	"testing"

	"github.com/countersign/countersign/conformance/playdoc"
)

func TestAddOnsAreChangedWithANewToken(t *testing.T) {
	s := open(t)
	old := s.acknowledged(playdoc.Purchase{Account: "a1"})
	token, err := s.ChangeAddOns(old, "platinum")
	s.do(err)
	s.acknowledge(token)
	got := s.wantState(token, "ACTIVE", 4, 4, 13)
	if items := got.LineItems; got.LinkedPurchaseToken != old || len(items) != 2 || items[1].ProductID != "platinum" || items[1].ExpiryTime != items[0].ExpiryTime || !items[1].AutoRenewingPlan.AutoRenewEnabled {
		t.Fatalf("%+v", got)
	}
	last, err := s.ChangeAddOns(token)
	s.do(err)
	s.acknowledge(last)
	removed := s.wantState(last, "ACTIVE", 4, 13).LineItems[1]
	if removed.DeferredItemRemoval == nil || removed.AutoRenewingPlan.AutoRenewEnabled {
		t.Errorf("%+v", removed)
	}
	s.renewOn(last, 2, 28)
	items := s.wantState(last, "ACTIVE", 2).LineItems
	if items[0].ExpiryTime != "2026-03-28T12:00:00.000Z" || items[1].ExpiryTime != "2026-02-28T12:00:00.000Z" || items[1].DeferredItemRemoval != nil {
		t.Errorf("%+v, %+v", items[0], items[1])
	}
}

func TestOneItemIsRevoked(t *testing.T) {
	s := open(t)
	token := s.acknowledged(playdoc.Purchase{Product: "gold", Plan: "monthly", AddOns: []string{"platinum"}})
	path := "purchases/subscriptionsv2/tokens/" + token + ":revoke"
	s.want(400, "POST", path, `{"revocationContext":{"itemBasedRefund":{"productId":"gold"}}}`)
	s.want(200, "POST", path, `{"revocationContext":{"itemBasedRefund":{"productId":"platinum"}}}`)
	items := s.wantState(token, "ACTIVE", 4, 0, 17).LineItems
	if items[1].ExpiryTime != "2026-01-31T12:00:00.000Z" || items[0].ExpiryTime != "2026-02-28T12:00:00.000Z" {
		t.Errorf("%+v, %+v", items[0], items[1])
	}
	s.want(200, "POST", path, `{"revocationContext":{"itemBasedRefund":{"productId":"gold"}}}`)
	s.wantState(token, "EXPIRED", 0, 12)
}

func TestOnlyPlansOfTheSamePeriodAreAddOns(t *testing.T) {
	s := open(t)
	for _, b := range []playdoc.Purchase{
		{Product: "gold", Plan: "prepaid", AddOns: []string{"platinum"}},
		{Product: "gold", Plan: "monthly", AddOns: []string{"gold"}},
		{Product: "gold", Plan: "monthly", AddOns: []string{"unknown"}},
	} {
		if _, err := s.Buy(b); err == nil {
			t.Errorf("%+v was bought", b)
		}
	}
}
