package pages_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play/playfake"
)

const (
	customersPath = "/api-addons/admin/customers"
	purchasesPath = "/api-addons/admin/purchases"
)

func TestCustomersAreListedFilteredAndPaged(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		b := s.signedIn(t)
		b.Get(customersPath).Says("No customers yet")
		for i := range 52 {
			must.Get(s.Members.AddGrant(t.Context(), operator, fmt.Sprintf("user %02d", i), 1, time.Time{}, "Prize"))(t)
		}
		s.pass(time.Hour)
		token, _ := s.buy(t, "ana", playfake.BuyOptions{ProductID: "gold_monthly", Test: true})
		p := b.Get(customersPath).Says("ana", "Gold", "Purchase in the store", "Test purchase", "user 51", "Granted by hand", "No end", "53 customers").SilentAbout("user 00")
		b.Get(relativeOf(p, "next")).Says("user 00").SilentAbout("ana")
		must.Do(t, s.play.Pause(token, 30*24*time.Hour))
		b.Get(customersPath + "?status=on_hold").Says("No customers of this status")
		b.Get(customersPath + "?status=active").Says("ana")
		b.Get(customersPath + "?status=nonsense&older=nonsense").Says("ana")
	})
}

func TestCustomersAreMergedAndErased(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		s.buy(t, "ana/1", playfake.BuyOptions{ProductID: "gold_monthly"})
		b := s.signedIn(t)
		ana, ben := customersPath+"/ana%2F1", customersPath+"/ben"
		b.Get(ana).Says("Merge into another user", "Erase the user")
		for to, says := range map[string]string{"": "Type the user ID.", "ana/1": "A merge needs two users"} {
			b.Fill(ana+"/merge", ana+"/merge", "to", to).Status(http.StatusUnprocessableEntity).Says("Nothing was moved.").Wrong("to", says)
		}
		b.Fill(ana+"/merge", ana+"/merge", "to", " ben ").LeadsTo(ben)
		b.Get(ben).Says("Moved from ana/1 to ben: 1 purchase and 0 grants.", "gold_monthly", "Active")
		b.Fill(ben+"/erase", ben+"/erase").Status(http.StatusConflict).Says("Nothing was erased.", "still renews a subscription", "choose below to erase all the same")
		b.Fill(ben+"/erase", ben+"/erase", "renews", "erase").LeadsTo(customersPath)
		b.Get(customersPath).Says("ben was erased. Purchases without a user now: 1.")
		b.Get(ben).Says("No purchases", "No events").SilentAbout("gold_monthly")
		b.Get("/api-addons/admin/audit").Says("Merged two customers", "Erased a customer")
	})
}

func TestACustomerIsFoundByUserOrderPurchaseAndToken(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		token, id := s.buy(t, "ana/1", playfake.BuyOptions{ProductID: "gold_monthly"})
		order := s.play.Orders(token)[0]
		b := s.signedIn(t)
		for text, path := range map[string]string{
			"ana/1": customersPath + "/ana%2F1", " ana/1 ": customersPath + "/ana%2F1",
			order: purchasesPath + "/" + id, id: purchasesPath + "/" + id, token: purchasesPath + "/" + id,
		} {
			b.Fill(customersPath, customersPath, "text", text).LeadsTo(path)
		}
		b.Get(customersPath+"/ana%2F1").Says("Customer ana/1", "Active", "gold_monthly", "Membership activated")
		b.Fill(customersPath, customersPath, "text", "ben").Status(http.StatusUnprocessableEntity).Says("Nothing was found.", "Type the whole ID", "Grant a membership to ben")
		b.Fill(customersPath, customersPath, "text", "GPA.9").Status(http.StatusUnprocessableEntity).SilentAbout("Grant a membership to")
		b.Fill(customersPath, customersPath, "text", "").Status(http.StatusUnprocessableEntity).Says("Type a user ID")
		unknown := strings.Repeat("secret-token", 20)
		b.Fill(customersPath, customersPath, "text", unknown).Status(http.StatusUnprocessableEntity).Says("Nothing was found.").SilentAbout("secret-token")
		b.Fill(customersPath, customersPath, "text", strings.Repeat("x", 3000)).Status(http.StatusUnprocessableEntity).Says("Nothing was found.")
		if log := s.log.String(); strings.Contains(log, token) || strings.Contains(log, "secret-token") {
			t.Error("a token is in the log")
		}
	})
}

func TestAMembershipIsGrantedAndEnded(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		b := s.signedIn(t)
		const page, form = customersPath + "/ben", customersPath + "/ben/grant"
		b.Get(page).Says("No membership", "No purchases", "No grants")
		b.Fill(form, form, "package", "2", "until", "2026-12-24", "reason", "Prize").LeadsTo(page)
		b.Get(page).Says("was granted to ben", "Granted by hand", "Prize", email, "25 Dec 2026", "Membership activated")
		for name, wrong := range map[string][]string{
			"a day that has passed": {"package", "2", "until", "2026-10-01", "reason", "x"}, "not a day": {"package", "2", "until", "soon", "reason", "x"},
			"no reason": {"package", "2"}, "no such package": {"package", "9", "reason", "x"}, "not a package": {"package", "x", "reason", "x"},
		} {
			if p := b.Fill(form, form, wrong...); p.StatusCode != http.StatusUnprocessableEntity && p.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %d", name, p.StatusCode)
			}
		}
		const end = page + "/grants/1/end"
		b.Get(end).Says("The package “Gold” that was granted to ben ends now.")
		b.Fill(end, end).LeadsTo(page)
		b.Get(page).Says("Ended early", "Membership expired")
		b.Get(end).LeadsTo(page)
	})
}

func TestAPageOfACustomerShowsWhatTheUserHasToDo(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		token, id := s.buy(t, "ana", playfake.BuyOptions{ProductID: "gold_monthly"})
		must.Do(t, s.play.DeclineCard(token))
		s.pass(32 * 24 * time.Hour)
		b := s.signedIn(t)
		b.Fill(purchasesPath+"/"+id, purchasesPath+"/"+id+"/refresh").LeadsTo(purchasesPath + "/" + id)
		b.Get(customersPath+"/ana").Says("Grace period", "Change the way of payment in the store", "The membership, and that the payment failed")
	})
}
