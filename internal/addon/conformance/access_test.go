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
}
