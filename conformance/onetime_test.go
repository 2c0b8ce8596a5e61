package conformance

import (
	"net/http"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
)

// sellOnce publishes that two products are bought once.
func (s *site) sellOnce() {
	s.t.Helper()
	s.set(map[string]string{
		iap.KeyProductMap: `{"store":{"silver_monthly":1,"gold_monthly":2,"gold_forever":2,"gold_pass":2}}`, iap.KeyOneTime: "gold_forever=lifetime, gold_pass=30",
	})
}

// wantUntil compares the end of a user's membership with a number of days since the cases began.
func (s *site) wantUntil(user string, days int) {
	s.t.Helper()
	if m := s.membership(user); m.Until == nil || !m.Until.Time.Equal(today.AddDate(0, 0, days)) {
		s.t.Errorf("user %s has %s until %v, want %s", user, m.Status, m.Until, today.AddDate(0, 0, days))
	}
}

// Products that are bought once.
var oneTimeCases = []conformance{
	{name: "a package that is bought for ever is acknowledged, and has neither an end nor a page to manage it", rule: "one-time products", run: func(s *site) {
		s.sellOnce()
		token := s.buy("7", purchase{product: forever})
		v := s.verified("7", token)
		if p := v.Purchase; !p.OneTime || p.ExpiresAt != nil || p.AutoRenewing || v.Membership.Until != nil || v.Membership.ManageURL != nil {
			s.t.Errorf("%+v %+v", p, v.Membership)
		}
		if s.front.tried(token) != 1 || s.front.called(token+ofConsumes) != 0 {
			s.t.Error("it was not acknowledged")
		}
		s.deliver()
		s.pass(400 * day)
		s.want("7", "active Gold, ends")
		s.wantEvents("activated 7")
	}},
	{name: "days are consumed, so that they can be bought again, and add up after what is still paid", rule: "one-time products", run: func(s *site) {
		s.sellOnce()
		token := s.bought("7", purchase{product: pass})
		s.wantUntil("7", 30)
		if s.front.tried(token) != 0 || s.front.called(token+ofConsumes) != 1 {
			s.t.Error("it was not consumed")
		}
		s.deliver()
		s.pass(10 * day)
		s.bought("7", purchase{product: pass})
		s.wantUntil("7", 60)
		s.deliver()
		s.pass(50*day + time.Hour)
		s.want("7", "expired")
		s.wantEvents("activated 7", "renewed 7", "expired 7")
	}},
	{name: "a consumed purchase that the store forgets keeps its days", rule: "one-time products, 1.11 404 purchaseTokenNotFound, 410", run: func(s *site) {
		s.sellOnce()
		token := s.bought("7", purchase{product: pass})
		s.front.fail(1, fault{of: "/productsv2/tokens/", status: 404, reason: "purchaseTokenNotFound"})
		s.front.fail(1, fault{of: "/productsv2/tokens/", status: 410, reason: "purchaseTokenNoLongerValid"})
		for range 2 {
			s.verified("7", token)
			s.wantUntil("7", 30)
		}
		s.refused("8", token, http.StatusConflict, "owned_by_other_user")
	}},
	{name: "a product for ever can't be bought twice", rule: "one-time products", run: func(s *site) {
		s.sellOnce()
		s.bought("7", purchase{product: forever})
		if _, err := s.play.buy(purchase{product: forever, account: s.account("7")}); err == nil {
			s.t.Error("it was consumed")
		}
	}},
	{name: "a refund of a one-time product ends its access, and the days after it move up", rule: "one-time products, 1.9", run: func(s *site) {
		s.sellOnce()
		token := s.bought("7", purchase{product: pass})
		s.pass(10 * day)
		s.bought("7", purchase{product: pass})
		s.deliver()
		s.check(s.play.refund(s.play.lastOrder(token), true))
		s.deliver()
		s.wantUntil("7", 40)
		s.wantEvents("activated 7", "renewed 7", "purchase.refunded 7", "changed 7")
	}},
	{name: "a chargeback of a product for ever whose notification was lost is found in the store's list", rule: "one-time products, 1.9", run: func(s *site) {
		s.sellOnce()
		token := s.bought("7", purchase{product: forever})
		s.check(s.play.chargeback(s.play.lastOrder(token)))
		s.play.news()
		s.pass(61 * time.Minute)
		s.want("7", "revoked")
		s.wantRefund("7", "activated 7", "revoked 7")
	}},
	{name: "a refund of some of a quantity takes their days", rule: "one-time products, 1.8 refundType 2", run: func(s *site) {
		s.sellOnce()
		token := s.bought("7", purchase{product: pass, quantity: 3})
		s.wantUntil("7", 90)
		s.deliver()
		s.check(s.play.refundPart(token, 1))
		s.deliver()
		s.wantUntil("7", 60)
		s.wantEvents("activated 7", "changed 7")
	}},
	{name: "a pending one-time purchase waits for its payment", rule: "one-time products, 1.8 code 1", run: func(s *site) {
		s.sellOnce()
		token := s.buy("7", purchase{product: pass, pending: true})
		if v := s.verify("7", token); v.status != http.StatusAccepted || v.Purchase.Acknowledged {
			s.t.Errorf("%v", v)
		}
		s.want("7", "pending")
		s.pass(day)
		s.act(s.play.pay, token)
		s.deliver()
		s.wantUntil("7", 31)
		if s.front.called(token+ofConsumes) != 1 {
			s.t.Error("it was not consumed")
		}
	}},
	{name: "a pending one-time purchase that is cancelled brings nothing", rule: "one-time products, 1.8 code 2", run: func(s *site) {
		s.sellOnce()
		token := s.buy("7", purchase{product: forever, pending: true})
		s.verify("7", token)
		s.act(s.play.cancelPending, token)
		s.deliver()
		s.want("7", "none")
	}},
	{name: "a one-time purchase of another user is refused", rule: "one-time products, 1.5", run: func(s *site) {
		s.sellOnce()
		token := s.bought("7", purchase{product: forever})
		s.refused("8", token, http.StatusConflict, "owned_by_other_user")
		s.want("8", "none")
	}},
	{name: "a one-time product that the notification brings first belongs to the user of its account id", rule: "one-time products, 1.5", run: func(s *site) {
		s.sellOnce()
		token := s.buy("7", purchase{product: forever})
		s.deliver()
		s.want("7", "active Gold, ends")
		if s.front.tried(token) != 1 {
			s.t.Error("it was not acknowledged")
		}
	}},
	{name: "a subscription is read as one although one-time products are sold", rule: "one-time products", run: func(s *site) {
		s.sellOnce()
		token := s.bought("7", purchase{product: gold})
		s.want("7", "active Gold")
		if s.front.called("/productsv2/tokens/"+token) != 0 {
			s.t.Error("the store was asked for a one-time product")
		}
	}},
	{name: "a one-time product of which the site sells a subscription is refused", rule: "one-time products", run: func(s *site) {
		s.sellOnce()
		s.set(map[string]string{iap.KeyOneTime: "gold_pass=30"})
		s.refused("7", s.buy("7", purchase{product: forever}), http.StatusUnprocessableEntity, "not_a_subscription")
	}},
	{name: "the site revokes a one-time purchase, and can't cancel it", rule: "one-time products, 1.9", run: func(s *site) {
		s.sellOnce()
		s.bought("7", purchase{product: forever})
		path := "iap/purchases/" + s.purchases("7")[0].ID
		s.call(http.StatusConflict, "POST", path+"/cancel", "{}", s.server(), nil)
		s.call(http.StatusOK, "POST", path+"/revoke", "{}", s.server(), nil)
		s.want("7", "revoked")
		s.deliver()
		s.wantRefund("7", "activated 7", "revoked 7")
	}},
	{name: "in test mode, the app buys days again once they were consumed", rule: "one-time products, test mode", run: func(s *site) {
		s.sellOnce()
		s.set(map[string]string{iap.KeySandboxEnabled: "1"})
		first := s.buySimulated("7", pass, "")
		s.verified("7", first)
		next := s.buySimulated("7", pass, "")
		if v := s.verified("7", next); next == first || !v.Purchase.OneTime || v.Purchase.Environment != "simulated" {
			s.t.Errorf("%s, then %s: %+v", first, next, v.Purchase)
		}
	}},
	{name: "the configuration of apps names one-time products apart from the subscriptions", rule: "one-time products, spec 2.7", run: func(s *site) {
		s.sellOnce()
		var config countersign.IAPConfig
		s.call(http.StatusOK, "GET", "iap/config", "", nil, &config)
		if len(config.Products) != 2 || len(config.Products[1].StoreProductIDs) != 1 || len(config.OneTimeProducts) != 2 ||
			config.OneTimeProducts[0].Days != nil || *config.OneTimeProducts[1].Days != 30 {
			s.t.Errorf("%+v", config)
		}
	}},
}
