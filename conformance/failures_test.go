package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Failures of the store and of the way to it.
var failureCases = []conformance{
	{name: "a service account without the permission queues the verification, with an alert", rule: "1.11 401, 403", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.play.withdraw(true)
		s.queued(token)
		s.want("7", "pending")
		if s.alerts() != "store_not_authorised" {
			s.t.Errorf("alerts: %s", s.alerts())
		}
		s.pass(36 * time.Hour) // so long may a permission take
		s.want("7", "pending")
		s.play.withdraw(false)
		s.pass(2 * time.Hour)
		s.want("7", "active Gold")
		if s.alerts() != "" {
			s.t.Errorf("alerts: %s", s.alerts())
		}
	}},
	{name: "an app that the store does not find queues the verification", rule: "1.11 404 applicationNotFound", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(1, fault{of: ofReads, status: 404, reason: "applicationNotFound"})
		s.queued(token)
		s.pass(time.Minute)
		s.want("7", "active Gold")
	}},
	{name: "a token that the store does not know waits ten minutes, is refused then, and not asked for again at once", rule: "1.2, 1.11 404 purchaseTokenNotFound", run: func(s *site) {
		token := "a-token-that-nobody-was-given"
		s.queued(token)
		s.pass(9 * time.Minute)
		s.want("7", "pending")
		s.pass(2 * time.Minute)
		s.want("7", "none")
		reads := s.front.reads(token)
		v := s.refused("7", token, 429, "repeated_failure")
		if s.front.reads(token) != reads || v.header.Get("Retry-After") == "" {
			s.t.Errorf("read %d times, then %d times", reads, s.front.reads(token))
		}
	}},
	{name: "a paid purchase that the store knows hours after its notification is not refused", rule: "1.2, 1.8 code 4", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(1000, fault{of: ofReads, status: 404, reason: "purchaseTokenNotFound"})
		s.queued(token)
		s.deliver()
		s.pass(3 * time.Hour)
		s.want("7", "pending")
		s.front.heal()
		s.pass(2 * time.Hour)
		s.want("7", "active Gold")
	}},
	{name: "a malformed token is refused", rule: "1.11 400", run: func(s *site) {
		s.refused("7", "~x~", 422, "invalid_token")
		s.refused("7", strings.Repeat("x", 3000), 400, "invalid_request")
		s.refused("7", "", 400, "invalid_request")
	}},
	{name: "a purchase that ended more than 60 days ago is gone", rule: "1.1, 1.11 410", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.cancel, token)
		s.pass(31*day + 61*day)
		s.refused("7", token, 410, "purchase_gone")
		s.want("7", "expired")
	}},
	{name: "a quota that is used up queues the verification until the store wants to be asked", rule: "1.11 429", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(1, fault{of: ofReads, status: 429, reason: "rateLimitExceeded", after: "60"})
		s.queued(token)
		if reads := s.front.reads(token); reads != 1 {
			s.t.Errorf("asked %d times", reads)
		}
		s.pass(59 * time.Second)
		s.want("7", "pending")
		s.pass(2 * time.Second)
		s.want("7", "active Gold")
	}},
	{name: "an outage of any kind queues the verification", rule: "1.11 5xx, timeouts", run: func(s *site) {
		for i, outage := range []fault{
			{of: ofReads, status: 500, reason: "backendError"}, {of: ofReads, status: 404, raw: true}, {of: ofReads, status: 408, raw: true}, {of: ofReads},
		} {
			user := fmt.Sprint(i)
			token := s.buy(user, purchase{product: gold})
			s.front.fail(9, outage)
			if v := s.verify(user, token); v.status != http.StatusAccepted || v.Result != "queued" {
				s.t.Errorf("%+v: %v", outage, v)
			}
			s.front.heal()
			s.pass(20 * time.Second)
			s.want(user, "active Gold")
		}
	}},
	{name: "an outage that ends within the request does not show", rule: "1.3", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(2, fault{of: ofReads, status: 503, reason: "backendError"})
		s.verified("7", token)
	}},
	{name: "an answer that can't be read is an outage", rule: "1.11", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.rewrite(`"subscriptionState"`, `"stateOfTheSubscription"`)
		s.queued(token)
		s.front.rewrite()
		s.pass(20 * time.Second)
		s.want("7", "active Gold")
	}},
	{name: "an outage at the end of the paid time leaves the access for six hours, and then suspends it until the store answers", rule: "6.5", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		end := s.membership("7").Until.Time
		s.now = end
		s.play.move(end)
		s.check(s.play.renew(token))
		s.play.news()
		s.front.cut(true)
		s.clock.Move(end.Sub(s.clock.Now()))
		s.pass(2 * time.Minute)
		s.want("7", "active Gold")
		s.pass(5 * time.Hour)
		s.want("7", "active Gold")
		s.pass(2 * time.Hour)
		s.want("7", "expired")
		s.front.cut(false)
		s.pass(3 * time.Hour)
		s.want("7", "active Gold")
		s.wantEvents("activated 7", "suspended 7", "resumed 7")
	}},
	{name: "an outage during a restore is noticed once", rule: "1.11", run: func(s *site) {
		tokens := []string{s.buy("7", purchase{product: gold}), s.buy("7", purchase{product: silver})}
		s.front.fail(1, fault{of: ofReads, status: 429, reason: "rateLimitExceeded", after: "30"})
		results := s.restore("7", tokens...)
		if results[sumOf(tokens[0])] != "queued" || results[sumOf(tokens[1])] != "queued" || s.front.reads(tokens[1]) != 0 {
			s.t.Errorf("%v", results)
		}
		s.pass(time.Minute)
		s.want("7", "active Gold")
	}},
	{name: "a clock that jumps ahead takes no access, and all is right when it is corrected", rule: "6.5", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		end := s.membership("7").Until.Time
		jump := end.Sub(s.clock.Now()) + 2*time.Hour
		s.clock.Move(jump)
		s.work()
		s.want("7", "active Gold")
		s.clock.Move(-jump)
		s.work()
		s.verified("7", token)
		s.renew("7", token)
		s.want("7", "active Gold")
		s.wantEvents("activated 7", "renewed 7")
	}},
	{name: "a clock that jumps back grants nothing twice", rule: "6.5", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.pass(3 * day)
		version := s.membership("7").Version
		s.clock.Move(-2 * day)
		s.work()
		if v := s.verify("7", token); v.Result != "queued" && v.Result != "unchanged" {
			s.t.Errorf("%v", v)
		}
		s.want("7", "active Gold")
		s.clock.Move(2 * day)
		if s.verified("7", token); s.membership("7").Version != version {
			s.t.Error("the membership changed")
		}
	}},
	{name: "the key of the service account is replaced between a verification and its acknowledgement", rule: "1.11 401", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(1, fault{of: ofAcks, status: 401, reason: "authError"})
		if v := s.verify("7", token); v.status != http.StatusOK || v.Purchase.Acknowledged {
			s.t.Errorf("%v, %+v", v, v.Purchase)
		}
		s.check(s.play.replaceAccountKey())
		s.pass(10 * time.Second)
		if s.front.acknowledgement(token).times != 0 {
			s.t.Error("acknowledged with the old key")
		}
		s.setServiceAccount(s.play.serviceAccount())
		s.pass(30 * time.Minute)
		if s.front.acknowledgement(token).times != 1 {
			s.t.Error("not acknowledged with the new key")
		}
		s.deliver()
		s.want("7", "active Gold")
	}},
	{name: "a user has thirty verifications a minute", rule: "1.3", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		tokens := make([]string, 20)
		for i := range tokens {
			tokens[i] = token
		}
		s.restore("7", tokens...)
		s.restore("7", tokens[:10]...)
		s.refused("7", token, 429, "rate_limited")
		s.bought("8", purchase{product: gold})
		s.pass(time.Minute)
		s.verified("7", token)
	}},
}

// queued verifies a token of user 7 that the store does not answer about.
func (s *site) queued(token string) {
	s.t.Helper()
	v := s.verify("7", token)
	if v.status != http.StatusAccepted || v.Result != "queued" || v.Purchase != nil {
		s.t.Errorf("%v", v)
	}
}

// Test purchases of the license testers.
var testerCases = []conformance{
	{name: "test purchases are allowed, and marked", rule: "1.6 allow", run: func(s *site) {
		s.bought("7", purchase{product: gold, test: true})
		if p := s.purchases("7")[0]; p.Environment != "test" {
			s.t.Errorf("%+v", p)
		}
		s.bought("8", purchase{product: gold})
		if p := s.purchases("8")[0]; p.Environment != "production" {
			s.t.Errorf("%+v", p)
		}
	}},
	{name: "test purchases are for the users on the list", rule: "1.6 allowlist", run: func(s *site) {
		s.set(map[string]string{"iapTestPurchases": "allowlist", "iapTestUsers": "7"})
		s.bought("7", purchase{product: gold, test: true})
		s.refused("8", s.buy("8", purchase{product: gold, test: true}), 403, "test_purchase_not_allowed")
		s.deliver()
		s.want("8", "none")
		s.bought("8", purchase{product: silver})
	}},
	{name: "test purchases are denied", rule: "1.6 deny", run: func(s *site) {
		s.set(map[string]string{"iapTestPurchases": "deny"})
		token := s.buy("7", purchase{product: gold, test: true})
		s.refused("7", token, 403, "test_purchase_not_allowed")
		s.deliver()
		s.want("7", "none")
		if s.front.acknowledgement(token).times != 0 {
			s.t.Error("acknowledged")
		}
	}},
	{name: "a rule for test purchases also ends the memberships of earlier testers, and brings them back", rule: "1.6", run: func(s *site) {
		for _, user := range []string{"7", "8"} {
			s.bought(user, purchase{product: gold, test: true})
		}
		s.bought("9", purchase{product: gold})
		s.wantEvents("activated 7", "activated 8", "activated 9")
		publish := func(values map[string]string) {
			s.set(values)
			s.clock.Move(time.Minute)
			s.work()
		}
		publish(map[string]string{"iapTestPurchases": "allowlist", "iapTestUsers": "8"})
		s.wantEvents("expired 7")
		publish(map[string]string{"iapTestPurchases": "deny"})
		s.wantEvents("expired 8")
		s.want("9", "active Gold")
		publish(map[string]string{"iapTestPurchases": "allow"})
		s.wantEvents("activated 7", "activated 8")
	}},
	{name: "a test subscription is renewed every few minutes, six times", rule: "1.6", run: func(s *site) {
		token := s.bought("7", purchase{product: gold, test: true})
		for range 6 {
			s.renew("7", token)
			s.want("7", "active Gold")
		}
		s.pass(10 * time.Minute)
		s.deliver()
		s.want("7", "expired")
	}},
}
