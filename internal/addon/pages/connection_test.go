package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

const connectionPath = iapPath + "/connection"

func TestTheConnectionTestNamesTheMissingPermission(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		b := s.signedIn(t)
		b.Get(iapPath).Says("Test the connection", "Check products")
		b.Get(connectionPath).Status(http.StatusOK).SilentAbout("Permission to read purchases of the app")
		b.Post(connectionPath, "do", "connection").Status(http.StatusOK).Says("Access token from Google", "Permission to read refunds and orders").SilentAbout("can't read")
		for part, want := range map[string]string{
			playfake.PartPurchases: "can't read purchases", playfake.PartVoided: "View financial data, orders, and cancellation survey responses", playfake.PartProducts: "View app information",
		} {
			s.play.Deny(part, true)
			b.Post(connectionPath, "do", "connection").Status(http.StatusOK).Says(want)
			s.play.Deny(part, false)
		}
	})
}

// The page says what has not arrived yet, and what to do in the store's console.
func TestTheConnectionPageShowsWhatHasArrived(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		b := s.signedIn(t)
		b.Get(connectionPath).Says("None has arrived yet", "Send a test notification in the Play Console, under Monetization setup", "No test purchase was verified yet", "license testers in the Play Console")
		s.mustSet(t, iap.KeyTestPurchases, "allowlist", iap.KeyPushServiceAccount, "")
		s.mustPublish(t, "Nobody tests")
		b.Get(connectionPath).Says("The service account of the push subscription is not set", "Change the setting", "the list of test users is empty")
		s.mustSet(t, iap.KeyTestUsers, "7", iap.KeyPushServiceAccount, pushAccount)
		s.mustPublish(t, "One tests")
		s.mustReceive(t, play.Notification{MessageID: "m1", Kind: play.OfTest})
		s.buy(t, "7", playfake.BuyOptions{ProductID: "gold_monthly", Test: true})
		b.Get(connectionPath).Says("The last one arrived on", "A test purchase was verified. Test users: 1")
	})
}

func TestTheConnectionIsNotTestedWithoutSettings(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.Post(connectionPath, "do", "connection").Status(http.StatusConflict).Says("The store was not asked.", "No Android application ID is published")
	b.Post(connectionPath, "do", "products").Says("not configured completely")
	s.mustSet(t, iap.KeySandboxEnabled, "1")
	s.mustPublish(t, "")
	b.Post(connectionPath, "do", "connection").Status(http.StatusConflict).Says("Test mode is on")
}

func TestTheProductMapIsCheckedAgainstTheCatalogue(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		s.mustPackage(t, 9, "Platinum", true)
		b := s.signedIn(t)
		b.Post(connectionPath, "do", "products").Status(http.StatusOK).Says("silver_monthly", "Silver (1)", "Matches", "The product extra_storage is not mapped", "Platinum (9)", "No product activates this package")
		s.play.Deny(playfake.PartProducts, true)
		b.Post(connectionPath, "do", "products").Says("The store was not asked.", "The store refuses the service account")
	})
}

// A product may be sold by the year, or without renewals: neither is an alert.
func TestProductsOfEveryKindAreSold(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		for _, plan := range []playfake.Plan{{ID: "yearly", Kind: playfake.AutoRenewing, Period: "P1Y"}, {ID: "prepaid", Kind: playfake.Prepaid, Period: "P1M"}, {ID: "off", Kind: playfake.Prepaid, Period: "P1M", State: "INACTIVE"}} {
			plan.Price = playfake.Money{Currency: "EUR", Units: 20}
			must.Do(t, s.play.AddProduct(playfake.Product{ID: "club_" + plan.ID, Plans: []playfake.Plan{plan}}))
		}
		s.mustSet(t, iap.KeyProductMap, `{"store":{"silver_monthly":1,"club_yearly":1,"club_prepaid":2,"club_off":2}}`)
		s.mustPublish(t, "A club")
		s.do(t, membership.KindCatalogue)
		alerts, err := s.Members.Alerts(t.Context(), operator)
		if err != nil || len(alerts) != 1 || alerts[0].Subject != "club_off" {
			t.Errorf("%+v, %v", alerts, err)
		}
	})
}
