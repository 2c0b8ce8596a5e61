package conformance

import "time"

// lapse declines the next payment of a user's subscription, and moves past the end of the paid time.
func (s *site) lapse(user, token string, beyond time.Duration) {
	s.t.Helper()
	s.act(s.play.decline, token)
	s.pass(s.membership(user).Until.Sub(s.clock.Now()) + beyond)
	s.deliver()
}

// Declined payments, pauses and cancellations.
var dunningCases = []conformance{
	{name: "a declined payment changes nothing in the silent day", rule: "1.2", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.lapse("7", token, 12*time.Hour)
		s.want("7", "active Gold")
	}},
	{name: "grace, then recovered", rule: "1.2 IN_GRACE_PERIOD", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.lapse("7", token, 26*time.Hour)
		s.want("7", "grace Gold, fix_payment")
		s.act(s.play.recover, token)
		s.deliver()
		s.want("7", "active Gold")
		s.wantEvents("activated 7", "grace_started 7", "renewed 7")
	}},
	{name: "grace, then on hold, then recovered", rule: "1.2 ON_HOLD", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.lapse("7", token, 26*time.Hour)
		s.pass(9 * day)
		s.deliver()
		s.want("7", "on_hold, fix_payment")
		s.act(s.play.recover, token)
		s.deliver()
		s.want("7", "active Gold")
		s.wantEvents("activated 7", "grace_started 7", "suspended 7", "resumed 7")
	}},
	{name: "on hold without a payment, then expired", rule: "1.2 ON_HOLD, EXPIRED", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.lapse("7", token, 26*time.Hour)
		s.pass(9 * day)
		s.deliver()
		s.pass(60 * day)
		s.deliver()
		s.want("7", "expired")
		s.wantEvents("activated 7", "grace_started 7", "suspended 7", "expired 7")
	}},
	{name: "without notifications, a hold and its end are found by reading again", rule: "6.6", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.decline, token)
		s.pass(31*day + 10*day)
		s.want("7", "on_hold, fix_payment")
		s.act(s.play.recover, token)
		s.pass(13 * time.Hour)
		s.want("7", "active Gold")
	}},
	{name: "a pause is announced, begins, and ends by the user", rule: "1.2 PAUSED", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.pauseMonth, token)
		s.deliver()
		s.want("7", "active Gold")
		s.pass(31 * day)
		s.deliver()
		s.want("7", "paused, resume")
		if list := s.purchases("7"); len(list) != 1 || list[0].AutoResumeAt == nil {
			s.t.Errorf("without the end of the pause: %+v", list)
		}
		s.act(s.play.resume, token)
		s.deliver()
		s.want("7", "active Gold")
		s.wantEvents("activated 7", "suspended 7", "resumed 7")
	}},
	{name: "a pause ends at its time", rule: "1.2 PAUSED, 6.6", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.pauseMonth, token)
		s.pass(31 * day)
		s.want("7", "paused, resume")
		s.pass(32 * day)
		s.want("7", "active Gold")
	}},
	{name: "canceled, then restored", rule: "1.2 CANCELED, 1.8 code 7", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.cancel, token)
		s.deliver()
		s.want("7", "active Gold, ends")
		s.act(s.play.restore, token)
		s.deliver()
		s.want("7", "active Gold")
		s.renew("7", token)
		s.want("7", "active Gold")
	}},
	{name: "canceled on hold ends at once", rule: "1.2", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.lapse("7", token, 10*day)
		s.want("7", "on_hold, fix_payment")
		s.act(s.play.cancel, token)
		s.deliver()
		s.want("7", "expired")
	}},
	{name: "the site cancels a subscription, and the paid time remains", rule: "1.9", run: func(s *site) {
		s.bought("7", purchase{product: gold})
		s.call(200, "POST", "iap/purchases/"+s.purchases("7")[0].ID+"/cancel", "{}", s.server(), nil)
		s.want("7", "active Gold, ends")
		s.pass(32 * day)
		s.want("7", "expired")
	}},
}
