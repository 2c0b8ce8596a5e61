package playdoc_test

import (
	"testing"

	"github.com/countersign/countersign/conformance/playdoc"
	"github.com/countersign/countersign/internal/play/publisher"
)

func (s *store) once(token string) (p publisher.ProductPurchaseV2) {
	s.t.Helper()
	s.read("purchases/productsv2/tokens/"+token, &p)
	return p
}

func (s *store) read(path string, into any) {
	s.t.Helper()
	status, answer := s.send("GET", "/androidpublisher/v3/applications/com.example.app/"+path, "")
	if status != 200 {
		s.t.Fatalf("%s: %d, %s", path, status, answer)
	}
	readAnswer(s.t, answer, into)
}

func (s *store) wantOnce(token, state string) {
	s.t.Helper()
	if got := s.once(token).PurchaseStateContext.PurchaseState; got != state {
		s.t.Errorf("%s, want %s", got, state)
	}
}

func TestTheLifeOfAOneTimePurchase(t *testing.T) {
	s := open(t)
	buy := func(b playdoc.OneTimePurchase) string {
		t.Helper()
		b.Product, b.Account = "coins", "ana"
		token, err := s.BuyOnce(b)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	path := func(token, verb string) string { return "purchases/products/coins/tokens/" + token + ":" + verb }

	token := buy(playdoc.OneTimePurchase{Pending: true, Quantity: 3})
	s.wantOnce(token, "PENDING")
	s.want(400, "POST", path(token, "consume"), "")
	if err := s.PayOnce(token); err != nil {
		t.Fatal(err)
	}
	p := s.once(token)
	if d := p.ProductLineItem[0].ProductOfferDetails; p.OrderID == "" || p.PurchaseCompletionTime == "" || d.Quantity != 3 || d.RefundableQuantity != 3 || p.ObfuscatedExternalAccountID != "ana" {
		t.Errorf("%+v %+v", p, d)
	}
	if _, err := s.BuyOnce(playdoc.OneTimePurchase{Product: "coins", Account: "ana"}); err == nil {
		t.Error("an owned product was bought again")
	}
	s.want(204, "POST", path(token, "acknowledge"), `{}`)
	s.want(204, "POST", path(token, "consume"), "")
	s.want(400, "POST", path(token, "consume"), "")
	if err := s.RefundPart(token, 1); err != nil {
		t.Fatal(err)
	}
	if d := s.once(token).ProductLineItem[0].ProductOfferDetails; d.RefundableQuantity != 2 || d.ConsumptionState != "CONSUMPTION_STATE_CONSUMED" {
		t.Errorf("%+v", d)
	}

	late := buy(playdoc.OneTimePurchase{})
	s.now = s.now.AddDate(0, 0, 3)
	s.wantOnce(late, "CANCELLED")
	never := buy(playdoc.OneTimePurchase{Pending: true})
	if err := s.CancelOnce(never); err != nil {
		t.Fatal(err)
	}
	s.wantOnce(never, "CANCELLED")
	refunded := buy(playdoc.OneTimePurchase{Test: true})
	s.want(204, "POST", "orders/"+s.LastOrder(refunded)+":refund?revoke=true", "")
	s.wantOnce(refunded, "CANCELLED")

	var voided publisher.VoidedPurchasesListResponse
	s.read("purchases/voidedpurchases", &voided)
	if len(voided.VoidedPurchases) != 2 || voided.VoidedPurchases[0].VoidedReason != 8 {
		t.Errorf("%+v", voided.VoidedPurchases)
	}
	s.want(400, "GET", "purchases/subscriptionsv2/tokens/"+token, "")
	s.want(400, "GET", "purchases/productsv2/tokens/"+s.buy(playdoc.Purchase{}), "")
	var list publisher.ListOneTimeProductsResponse
	s.read("oneTimeProducts", &list)
	if len(list.OneTimeProducts) != 1 || list.OneTimeProducts[0].ProductID != "coins" {
		t.Errorf("%+v", list.OneTimeProducts)
	}
}
