package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play/playfake"
)

func TestAPurchaseHasFactsAndATimeline(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		token, id := s.buy(t, "ana", playfake.BuyOptions{ProductID: "silver_monthly"})
		_, next := s.buy(t, "ana", playfake.BuyOptions{ProductID: "gold_monthly", Replaces: token, Mode: playfake.FullPrice})
		b := s.signedIn(t)
		b.Get(purchasesPath+"/"+id).Says("Replaced", next, "The app verified it", "Acknowledged", "ana", s.play.Orders(token)[0]).SilentAbout(token, "Cancel renewals")
		b.Get(purchasesPath+"/"+next).Says("Active", "Replaces", id, "EUR", "Base price", "Cancel renewals", "Defer the renewal", "Refund")
	})
}

func TestAPurchaseWithAddOnsShowsAllItems(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		token, id := s.buy(t, "ana", playfake.BuyOptions{ProductID: "silver_monthly"})
		must.Do(t, s.play.AddItem(token, playfake.Line{ProductID: "gold_monthly"}))
		b := s.signedIn(t)
		b.Get(purchasesPath + "/" + id).SilentAbout("The subscription has add-ons")
		b.Fill(purchasesPath+"/"+id, purchasesPath+"/"+id+"/refresh").LeadsTo(purchasesPath + "/" + id)
		b.Get(purchasesPath+"/"+id).Says("The subscription has add-ons", "silver_monthly", "gold_monthly")
		b.Get(customersPath + "/ana").Says("with gold_monthly")
	})
}

func TestStaffDecidesToWhomAPurchaseBelongs(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		token := must.Get(s.play.Buy(playfake.BuyOptions{ProductID: "gold_monthly", Account: "of another backend"}))(t)
		for _, user := range []string{"ana", "ben"} {
			if o, err := s.Members.Verify(t.Context(), user, token, ""); err != nil || !o.Pending {
				t.Fatalf("%+v, %v", o, err)
			}
		}
		found, err := s.Members.Find(t.Context(), operator, token)
		if err != nil || len(found) != 1 {
			t.Fatalf("%+v, %v", found, err)
		}
		page := purchasesPath + "/" + found[0].Purchase.ID
		b := s.signedIn(t)
		b.Get("/api-addons/admin/notifications").Says("A purchase waits for its owner", "Decide")
		b.Get(page).Says("These users claim it: ana, ben", "Nobody", "Refuse")
		b.Fill(page+"/refuse", page+"/refuse", "user_id", "ben", "reason", "").Status(http.StatusUnprocessableEntity).Says("Type a reason.")
		b.Fill(page+"/refuse", page+"/refuse", "user_id", "ben", "reason", "Not the buyer").LeadsTo(page)
		b.Get(page).Says("The purchase was refused to ben.", "These users claim it: ana")
		b.Fill(page+"/transfer", page+"/transfer", "to", "ana", "reason", "The buyer").LeadsTo(page)
		b.Get(page).Says("Moved here by staff").SilentAbout("claim it")
		b.Get("/api-addons/admin/audit?about=purchase").Says("Refused a purchase to a user", "Transferred a purchase")
	})
}

func TestTestPurchasesAreMarked(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		_, id := s.buy(t, "ana", playfake.BuyOptions{ProductID: "gold_monthly", Test: true})
		b := s.signedIn(t)
		b.Get(purchasesPath+"/"+id).Says("Test purchase", "Nobody paid for it.")
		b.Get(customersPath + "/ana").Says("Test purchase")
	})
}

func TestStaffActsOnAPurchase(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		_, id := s.buy(t, "ana", playfake.BuyOptions{ProductID: "gold_monthly"})
		page := purchasesPath + "/" + id
		b := s.signedIn(t)
		b.Get(page + "/refresh").Says("is read from the store again")
		b.Fill(page, page+"/refresh").LeadsTo(page)
		b.Get(page).Says("The purchase was read from the store. It is now: active")

		b.Get(page+"/defer").Says("The purchase of gold_monthly by ana is renewed later than 1 Dec 2026", "pays nothing")
		for _, days := range []string{"0", "366", "x", ""} {
			b.Fill(page+"/defer", page+"/defer", "days", days).Status(http.StatusUnprocessableEntity).Says("Type a whole number from 1 to 365.")
		}
		b.Fill(page+"/defer", page+"/defer", "days", "10").LeadsTo(page)
		b.Get(page).Says("The renewal was deferred.", "11 Dec 2026")

		b.Fill(page+"/transfer", page+"/transfer", "to", "ana", "reason", "x").Status(http.StatusUnprocessableEntity).Says("This user has the purchase")
		b.Fill(page+"/transfer", page+"/transfer", "to", "", "reason", "").Status(http.StatusUnprocessableEntity).Says("Type the user ID.", "Type a reason.")
		b.Fill(page+"/transfer", page+"/transfer", "to", "ben", "reason", "New account").LeadsTo(page)
		b.Get(page).Says("was transferred to ben", "Moved here by staff", "Transferred by staff", "New account")

		b.Get(page+"/cancel").Says("is not renewed again", "11 Dec 2026")
		b.Fill(page+"/cancel", page+"/cancel", "how", "restorable").LeadsTo(page)
		b.Get(page).Says("The renewals were cancelled. It is now: active", "No. The user cancelled it").SilentAbout("Defer the renewal")
		b.Fill(page+"/defer", page+"/defer", "days", "10").Status(http.StatusConflict).Says("does not renew this purchase")

		b.Get(page+"/refund").Says("Earlier periods are not refunded", "can't be undone")
		b.Fill(page+"/refund", page+"/refund", "how", "some").Status(http.StatusUnprocessableEntity)
		b.Fill(page+"/refund", page+"/refund", "how", "prorated").LeadsTo(page)
		b.Get(page).Says("The store refunds the purchase. It is now: revoked", "Revoked")
		b.Get("/api-addons/admin/audit?about=purchase").Says("Deferred a renewal in the store", "Transferred a purchase", "Cancelled a subscription in the store", "Revoked a subscription in the store")
	})
}

func TestAnOrderIsRefundedWhileAccessContinues(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		_, id := s.buy(t, "ana", playfake.BuyOptions{ProductID: "gold_monthly"})
		page := purchasesPath + "/" + id
		b := s.signedIn(t)
		b.Fill(page+"/refund", page+"/refund", "how", "keep").LeadsTo(page)
		b.Get(page).Says("The store refunds the purchase. It is now: active")
	})
}

func TestErrorsOfTheStoreAreShownWithTheNextStep(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		_, id := s.buy(t, "ana", playfake.BuyOptions{ProductID: "gold_monthly"})
		page := purchasesPath + "/" + id
		b := s.signedIn(t)
		s.down.Store(true)
		for action, fields := range map[string][]string{"/refresh": nil, "/cancel": {"how", "final"}, "/defer": {"days", "7"}, "/refund": {"how", "full"}} {
			b.Fill(page+action, page+action, fields...).Status(http.StatusServiceUnavailable).Says("The store does not answer; try again in a few minutes")
		}
		s.down.Store(false)
		b.Get(page).Says("Active")
		s.play.Deny(playfake.PartPurchases, true)
		b.Fill(page+"/refresh", page+"/refresh").Status(http.StatusServiceUnavailable).Says("The store refuses the service account; test the service account on the page In-app purchases")
	})
}

func TestAProductThatWasBoughtOnceHasNoRenewals(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		s.mustSet(t, iap.KeyProductMap, `{"store":{"silver_monthly":1,"gold_monthly":2,"gold_forever":2,"gold_pass":2}}`, iap.KeyOneTime, "gold_forever=lifetime, gold_pass=30")
		s.mustPublish(t, "One-time products")
		_, id := s.buy(t, "ana", playfake.BuyOptions{ProductID: "gold_forever"})
		page := purchasesPath + "/" + id
		b := s.signedIn(t)
		b.Get(page).Says("Bought once", "For ever", "Accepted in the store Yes").SilentAbout("Renewal price", "Cancel renewals", "Defer the renewal")
		b.Get(customersPath+"/ana").Says("gold_forever", "No end")
		b.Get(page + "/refund").Says("All of it, and access ends now").SilentAbout("The rest of the period")
		b.Fill(page+"/refund", page+"/refund", "how", "prorated").Status(http.StatusUnprocessableEntity)
		b.Fill(page+"/refund", page+"/refund", "how", "full").LeadsTo(page)
		b.Get(page).Says("The store refunds the purchase. It is now: revoked")
		b.Get("/api-addons/admin/numbers").Says("One-time 1")
		s.mustSet(t, iap.KeyOneTime, "silver_monthly=7, gold_monthly=lifetime, gold_forever=lifetime, gold_pass=30")
		s.mustPublish(t, "No subscriptions")
		b.Get("/api-addons/admin").Says("2 packages on sale.")
	})
}
