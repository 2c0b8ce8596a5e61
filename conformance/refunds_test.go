package conformance

import (
	"slices"
	"strings"
	"time"

	errs "github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
)

// Refunds, chargebacks and revocations.
var refundCases = []conformance{
	{name: "a refund of the current order ends the access", rule: "1.9", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.check(s.play.refund(s.play.lastOrder(token), true))
		s.deliver()
		s.want("7", "revoked")
		s.wantRefund("7", "activated 7", "revoked 7")
	}},
	{name: "a refund of an old order changes nothing", rule: "1.9", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		old := s.play.lastOrder(token)
		s.renew("7", token)
		s.check(s.play.refund(old, false))
		s.deliver()
		s.pass(2 * time.Hour)
		s.want("7", "active Gold")
		s.wantEvents("activated 7", "renewed 7")
	}},
	{name: "a chargeback of an old order keeps the access", rule: "1.9", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		old := s.play.lastOrder(token)
		s.renew("7", token)
		s.check(s.play.chargeback(old))
		s.deliver()
		s.pass(2 * time.Hour)
		s.want("7", "active Gold")
		s.wantRefund("7", "activated 7", "renewed 7")
	}},
	{name: "a refund that leaves the access changes nothing", rule: "1.9", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.check(s.play.refund(s.play.lastOrder(token), false))
		s.deliver()
		s.pass(2 * time.Hour)
		s.want("7", "active Gold")
		s.wantEvents("activated 7")
	}},
	{name: "a chargeback of the current order ends the access", rule: "1.9", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.check(s.play.chargeback(s.play.lastOrder(token)))
		s.deliver()
		s.want("7", "revoked")
		s.wantRefund("7", "activated 7", "revoked 7")
	}},
	{name: "a refund whose notifications were lost is found in the store's list within an hour", rule: "1.9, 6.6", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.check(s.play.refund(s.play.lastOrder(token), true))
		s.play.news()
		s.pass(61 * time.Minute)
		s.want("7", "revoked")
		s.wantRefund("7", "activated 7", "revoked 7")
	}},
	{name: "a revocation in the store's console ends the access", rule: "1.8 code 12", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.revoke, token)
		s.deliver()
		s.want("7", "revoked")
	}},
	{name: "the site revokes a purchase, and it is refunded", rule: "1.9", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.call(200, "POST", "iap/purchases/"+s.purchases("7")[0].ID+"/revoke", "{}", s.server(), nil)
		s.want("7", "revoked")
		s.deliver()
		s.want("7", "revoked")
		if s.play.revoke(token) == nil {
			s.t.Error("the store did not revoke it")
		}
	}},
	{name: "a revoked membership stays revoked when the store says expired", rule: "1.2", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.revoke, token)
		s.deliver()
		s.pass(40 * day)
		s.push(s.about("m1", 13, token))
		s.work()
		s.want("7", "revoked")
	}},
	{name: "a chargeback review raises an alert that names its 24 hours, is announced, and is answered once", rule: "1.8", run: func(s *site) {
		order := s.review()
		list, err := s.Members.Alerts(s.t.Context(), operator)
		s.check(err)
		if len(list) != 1 || list[0].Kind != "refund_review" || list[0].Subject != order || !strings.Contains(list[0].Message, "24 hours") || !list[0].FirstAt.Equal(s.clock.Now()) {
			s.t.Errorf("alerts: %+v", list)
		}
		s.wantEvents("activated 7", "purchase.chargeback_review 7")
		s.check(s.answer(order, play.DeclineRefund))
		if open := s.alerts(); open != "" {
			s.t.Errorf("alerts %q", open)
		}
		s.wantCode(s.answer(order, play.ApproveRefund), "review_ended")
		if got := s.play.reviewAnswer(order); got != "DECLINE" {
			s.t.Errorf("the store has %q", got)
		}
		s.want("7", "active Gold")
		s.wantEvents()
	}},
	{name: "a chargeback review is not answered after its 24 hours", rule: "1.8", run: func(s *site) {
		order := s.review()
		s.clock.Move(day + time.Minute)
		s.wantCode(s.answer(order, play.DeclineRefund), "review_ended")
		if got := s.play.reviewAnswer(order); got != "" {
			s.t.Errorf("the store has %q", got)
		}
	}},
}

// review has the store ask about a chargeback of user 7, and returns the order.
func (s *site) review() string {
	s.t.Helper()
	order := s.play.lastOrder(s.bought("7", purchase{product: gold}))
	s.deliver()
	s.check(s.play.reviewChargeback(order))
	s.deliver()
	return order
}

func (s *site) answer(order string, preference play.RefundPreference) error {
	return s.Members.AnswerReview(s.t.Context(), operator, order, preference, false)
}

// wantCode wants an error with a code.
func (s *site) wantCode(err error, code string) {
	s.t.Helper()
	if !errs.HasCode(err, code) {
		s.t.Errorf("%v, want %s", err, code)
	}
}

// wantRefund wants one event of a refund of a user among others, in any order.
func (s *site) wantRefund(user string, others ...string) {
	s.t.Helper()
	got, want := s.events(), append(slices.Clone(others), "purchase.refunded "+user)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.t.Errorf("events %q, want %q", got, want)
	}
}
