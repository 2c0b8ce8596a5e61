package conformance

import (
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
)

// Test mode beside real members, and an application ID that changed.
var testModeCases = []conformance{
	{name: "in test mode, a real purchase is acknowledged all the same", rule: "1.4, test mode", run: func(s *site) {
		s.boughtUnacknowledged("7")
		s.set(map[string]string{iap.KeySandboxEnabled: "1"})
		s.pass(10 * time.Second)
		if !s.purchases("7")[0].Acknowledged {
			s.t.Error("not acknowledged")
		}
	}},
	{name: "in test mode, real members are renewed and refunded", rule: "1.8, test mode", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.set(map[string]string{iap.KeySandboxEnabled: "1"})
		s.renew("7", token)
		s.want("7", "active Gold")
		s.check(s.play.refund(s.play.lastOrder(token), true))
		s.play.news()
		s.pass(61 * time.Minute)
		s.want("7", "revoked")
	}},
	{name: "in test mode, a new purchase in the real store is activated by its notification, and its token is not refused", rule: "1.5, test mode", run: func(s *site) {
		s.set(map[string]string{iap.KeySandboxEnabled: "1"})
		token := s.buy("7", purchase{product: gold})
		if v := s.refused("7", token, 503, "store_unavailable"); !v.Retryable {
			s.t.Error("it is final")
		}
		s.deliver()
		s.want("7", "active Gold")
		if s.front.acknowledgement(token).times != 1 {
			s.t.Error("not acknowledged")
		}
		s.pass(20 * time.Minute)
		s.refused("7", token, 503, "store_unavailable")
		s.set(map[string]string{iap.KeySandboxEnabled: "0"})
		s.verified("7", token)
	}},
	{name: "in test mode, the app buys without the store, and what it bought ends with test mode", rule: "test mode", run: func(s *site) {
		s.set(map[string]string{iap.KeySandboxEnabled: "1"})
		first := s.buySimulated("7", silver, "")
		s.verified("7", first)
		next := s.buySimulated("7", gold, first)
		var restored countersign.IAPRestore
		s.call(200, "POST", "iap/restore", jsonText(map[string]any{"purchase_tokens": []string{first, next}}), s.app("7"), &restored)
		if again := s.buySimulated("7", gold, first); again != next || restored.Results[1].Result != "created" {
			s.t.Errorf("%s, then %s: %+v", next, again, restored)
		}
		s.want("7", "active Gold")
		if n := len(s.front.calls); n > 0 {
			s.t.Errorf("the store was called: %v", s.front.calls)
		}
		if got := s.publishes(iap.KeySandboxEnabled, "0"); got != "test_mode_ends: 1 member" {
			s.t.Error(got)
		}
		s.want("7", "none")
		s.call(409, "POST", "iap/simulated/purchases", `{"product_id":"gold_monthly"}`, s.app("7"), nil)
	}},
	{name: "a publish that begins test mode says how many members have purchases", rule: "test mode", run: func(s *site) {
		s.bought("7", purchase{product: gold})
		s.bought("8", purchase{product: silver})
		if got := s.publishes(iap.KeySandboxEnabled, "1"); got != "test_mode_members: 2 members" {
			s.t.Error(got)
		}
		s.want("7", "active Gold")
	}},
	{name: "after the application ID changed, a purchase is read, acknowledged and renewed under its own ID", rule: "application ID", run: func(s *site) {
		token := s.boughtUnacknowledged("7")
		if got := s.publishes(iap.KeyPackageName, "com.cafe.next"); got != "application_changed: 1 member" {
			s.t.Error(got)
		}
		s.pass(10 * time.Second)
		s.verified("7", token)
		s.renew("7", token)
		s.call(200, "POST", "iap/purchases/"+s.purchases("7")[0].ID+"/cancel", "{}", s.server(), nil)
		s.want("7", "active Gold, ends")
		for path := range s.front.calls {
			if strings.Contains(path, "com.cafe.next") && strings.Contains(path, token) {
				s.t.Errorf("asked in the other application: %s", path)
			}
		}
	}},
	{name: "after the application ID changed, a lost refund is found in the list of the one in which it was bought", rule: "1.9, application ID", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.set(map[string]string{iap.KeyPackageName: "com.cafe.next"})
		s.check(s.play.refund(s.play.lastOrder(token), true))
		s.play.news()
		s.pass(61 * time.Minute)
		s.want("7", "revoked")
	}},
}

// boughtUnacknowledged is bought, and the store does not accept the acknowledgement within the request.
func (s *site) boughtUnacknowledged(user string) string {
	s.t.Helper()
	token := s.buy(user, purchase{product: gold})
	s.front.fail(1, fault{of: ofAcks, status: 503, reason: "backendError"})
	if v := s.verify(user, token); v.status != 200 || v.Purchase.Acknowledged {
		s.t.Fatalf("%v", v)
	}
	return token
}

// buySimulated buys as the app of a user does in test mode.
func (s *site) buySimulated(user, product, replaces string) string {
	s.t.Helper()
	var bought countersign.IAPSimulatedPurchase
	body := map[string]string{"product_id": product}
	if replaces != "" {
		body["replaces_token"] = replaces
	}
	s.call(200, "POST", "iap/simulated/purchases", jsonText(body), s.app(user), &bought)
	return bought.PurchaseToken
}

// publishes publishes a setting over HTTP, and returns what the answer warns of members.
func (s *site) publishes(key, value string) string {
	s.t.Helper()
	header := s.server()
	header["Content-Type"] = "application/json"
	s.call(200, "POST", "admin/app/settings", jsonText(map[string]any{"settings": map[string]string{key: value}}), header, nil)
	var done struct {
		Data struct{ Warnings []struct{ Code, Text string } }
	}
	s.call(200, "POST", "admin/app/settings/publish", `{"note":"Change"}`, header, &done)
	for _, w := range done.Data.Warnings {
		if n, _, counted := strings.Cut(w.Text, " ha"); counted {
			return w.Code + ": " + n
		}
	}
	return ""
}
