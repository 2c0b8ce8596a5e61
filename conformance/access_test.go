package conformance

import "net/http"

// Access by the state of a subscription.
var accessCases = []conformance{
	{name: "a pending purchase has no access and is not acknowledged until it is paid", rule: "1.2 PENDING", run: func(s *site) {
		token := s.buy("7", purchase{product: gold, pending: true})
		if v := s.verify("7", token); v.status != http.StatusAccepted || v.Membership.Status != "pending" {
			s.t.Errorf("%v, %+v", v, v.Membership)
		}
		s.deliver()
		if s.front.acknowledgement(token).times != 0 {
			s.t.Error("a pending purchase was acknowledged")
		}
		s.want("7", "pending")
		s.act(s.play.pay, token)
		s.deliver()
		s.want("7", "active Gold")
		if s.front.acknowledgement(token).times == 0 {
			s.t.Error("not acknowledged after the payment")
		}
	}},
	{name: "an active subscription has access, and is renewed", rule: "1.2 ACTIVE", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.want("7", "active Gold")
		until := s.membership("7").Until.Time
		s.renew("7", token)
		s.want("7", "active Gold")
		if !s.membership("7").Until.After(until) {
			s.t.Error("not renewed")
		}
		s.wantEvents("activated 7", "renewed 7")
	}},
	{name: "a canceled subscription has access until the end of the paid time", rule: "1.2 CANCELED, EXPIRED", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.cancel, token)
		s.deliver()
		s.want("7", "active Gold, ends")
		s.pass(29 * day)
		s.want("7", "active Gold, ends")
		s.pass(2 * day)
		s.want("7", "expired")
		s.wantEvents("activated 7", "will_not_renew 7", "expired 7")
	}},
	{name: "a pending purchase that is never paid brings nothing", rule: "1.2 PENDING_PURCHASE_CANCELED", run: func(s *site) {
		token := s.buy("7", purchase{product: gold, pending: true})
		s.verify("7", token)
		s.act(s.play.cancelPending, token)
		s.deliver()
		s.want("7", "none")
		if list := s.purchases("7"); len(list) != 1 || list[0].State != "failed" {
			s.t.Errorf("%+v", list)
		}
	}},
	{name: "a pending upgrade that is never paid leaves the old plan", rule: "1.2, 1.7", run: func(s *site) {
		old := s.bought("7", purchase{product: silver})
		token := s.buy("7", purchase{product: gold, pending: true, replaces: old})
		s.verify("7", token)
		s.want("7", "active Silver")
		s.act(s.play.cancelPending, token)
		s.deliver()
		s.want("7", "active Silver")
	}},
	{name: "a state that is not known keeps the last decision until the paid time ends, with an alert", rule: "1.2", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.front.rewrite("SUBSCRIPTION_STATE_ACTIVE", "SUBSCRIPTION_STATE_OF_TOMORROW")
		s.push(s.about("m1", 2, token))
		s.work()
		s.want("7", "active Gold")
		if s.alerts() != "unknown_state" {
			s.t.Errorf("alerts: %s", s.alerts())
		}
		s.act(s.play.cancel, token)
		s.front.rewrite("SUBSCRIPTION_STATE_CANCELED", "SUBSCRIPTION_STATE_OF_TOMORROW", "SUBSCRIPTION_STATE_EXPIRED", "SUBSCRIPTION_STATE_OF_TOMORROW")
		s.pass(32 * day)
		s.want("7", "expired")
	}},
	{name: "a purchase that the store does not know for a moment is verified", rule: "1.2, 1.3", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.front.fail(2, fault{of: ofReads, status: 404, reason: "purchaseTokenNotFound"})
		s.verified("7", token)
		s.want("7", "active Gold")
	}},
	{name: "a product that is not mapped to a package is refused, with an alert", rule: "1.3", run: func(s *site) {
		token := s.buy("7", purchase{product: unmapped})
		s.refused("7", token, 422, "product_not_mapped")
		if s.alerts() != "product_not_mapped" {
			s.t.Errorf("alerts: %s", s.alerts())
		}
		s.want("7", "none")
	}},
	{name: "the product is the store's, and another one that the app expects is refused", rule: "1.3", run: func(s *site) {
		token := s.buy("7", purchase{product: silver})
		var got verdict
		s.call(422, "POST", "iap/verify", jsonText(map[string]string{"purchase_token": token, "product_id": gold}), s.app("7"), &got)
		if got.Code != "product_mismatch" {
			s.t.Errorf("%s", got.Code)
		}
		s.want("7", "none")
	}},
}
