package conformance

import (
	"maps"
	"strings"

	"github.com/countersign/countersign"
)

// dearer raises the price of gold for user 7, who has to agree before the second renewal: the
// first one is within the 37 days of notice.
func (s *site) dearer(token string) {
	s.t.Helper()
	s.check(s.play.raisePrice(gold, "monthly", 9))
	s.deliver()
	s.want("7", "active Gold, confirm_price")
	s.renew("7", token)
	s.want("7", "active Gold, confirm_price")
}

// Changes of plans and prices, chains of purchases.
var planCases = []conformance{
	{name: "a price increase that is declined ends the subscription with the paid time", rule: "1.1", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.dearer(token)
		s.pass(31 * day)
		s.deliver()
		s.want("7", "expired")
	}},
	{name: "a price increase that is accepted renews at the new price", rule: "1.1", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.dearer(token)
		s.act(s.play.acceptPrice, token)
		s.renew("7", token)
		s.want("7", "active Gold")
		if price := s.purchases("7")[0].Price; price == nil || price.Amount != "9.00" {
			s.t.Errorf("the price is %+v", price)
		}
	}},
	{name: "installments that are canceled are renewed until the last committed payment", rule: "1.8 code 18", run: func(s *site) {
		token := s.bought("7", purchase{product: gold, plan: installments})
		s.act(s.play.cancel, token)
		s.deliver()
		for range 11 {
			s.renew("7", token)
		}
		if !s.membership("7").Active {
			s.t.Error("ended before the last committed payment")
		}
		s.pass(32 * day)
		s.deliver()
		s.want("7", "expired")
	}},
	{name: "an item is added and removed", rule: "1.8 code 17", run: func(s *site) {
		token := s.bought("7", purchase{product: silver})
		token, err := s.play.addItem(token, gold)
		s.check(err)
		s.deliver()
		s.want("7", "active Gold")
		token, err = s.play.removeItem(token, gold)
		s.check(err)
		s.deliver()
		s.want("7", "active Gold, ends")
		s.renew("7", token)
		s.want("7", "active Silver")
	}},
	{name: "all items of a subscription with an add-on are printed, and the best one counts", rule: "1.1, 1.8 code 17", run: func(s *site) {
		token := s.bought("7", purchase{product: silver})
		_, err := s.play.addItem(token, gold)
		s.check(err)
		s.deliver()
		s.want("7", "active Gold")
		var own struct{ Purchases []countersign.IAPPurchase }
		s.call(200, "GET", "iap/purchases", "", s.app("7"), &own)
		for who, p := range map[string]countersign.IAPPurchase{"the app": own.Purchases[0], "the site": s.purchases("7")[0]} {
			packages := map[string]string{}
			for _, item := range p.Items {
				if item.Package == nil || item.ExpiresAt == nil || !item.AutoRenewing {
					s.t.Fatalf("%s reads %+v", who, item)
				}
				packages[item.ProductID] = item.Package.Name
			}
			if !maps.Equal(packages, map[string]string{silver: "Silver", gold: "Gold"}) {
				s.t.Errorf("%s reads %v", who, packages)
			}
		}
	}},
	{name: "a prepaid plan ends without a renewal", rule: "1.1", run: func(s *site) {
		s.bought("7", purchase{product: gold, plan: prepaid})
		s.want("7", "active Gold, ends")
		s.pass(31 * day)
		s.deliver()
		s.want("7", "expired")
	}},
	{name: "a prepaid top-up adds to the paid time", rule: "1.1, 1.7", run: func(s *site) {
		token := s.bought("7", purchase{product: gold, plan: prepaid})
		until := s.membership("7").Until.Time
		s.pass(10 * day)
		s.bought("7", purchase{product: gold, plan: prepaid, replaces: token})
		s.deliver()
		s.want("7", "active Gold, ends")
		if more := s.membership("7").Until.Sub(until); more < 28*day || more > 31*day {
			s.t.Errorf("%v more", more)
		}
		s.wantEvents("activated 7", "renewed 7")
	}},
	{name: "an upgrade takes the place of the old plan", rule: "1.7", run: func(s *site) {
		old := s.bought("7", purchase{product: silver})
		token := s.bought("7", purchase{product: gold, replaces: old})
		s.want("7", "active Gold")
		s.deliver()
		s.verify("7", old)
		s.want("7", "active Gold")
		s.wantStates("7", "active", "superseded")
		if replaces := s.purchases("7")[0].Replaces; replaces == nil || *replaces != s.purchases("7")[1].ID {
			s.t.Error("the new purchase does not name the old one")
		}
		s.renew("7", token)
		s.want("7", "active Gold")
	}},
	{name: "an upgrade that is known by notifications alone", rule: "1.7, 1.8 code 4", run: func(s *site) {
		old := s.bought("7", purchase{product: silver})
		s.buy("7", purchase{product: gold, replaces: old})
		s.deliver()
		s.want("7", "active Gold")
		s.wantStates("7", "active", "superseded")
	}},
	{name: "the end of a replaced plan does not end the membership, even if it is known first", rule: "1.7", run: func(s *site) {
		old := s.bought("7", purchase{product: silver})
		token := s.buy("7", purchase{product: gold, replaces: old})
		s.push(s.about("m1", 13, old))
		s.work()
		s.verified("7", token)
		s.want("7", "active Gold")
		s.wantStates("7", "active", "superseded")
	}},
	{name: "a deferred replacement keeps the old plan until the renewal", rule: "1.7", run: func(s *site) {
		old := s.bought("7", purchase{product: gold})
		token := s.bought("7", purchase{product: silver, replaces: old, mode: deferred})
		s.deliver()
		s.want("7", "active Gold, ends")
		s.renew("7", token)
		s.want("7", "active Silver")
	}},
	{name: "a chain of which only the first and the last are known leaves one active purchase", rule: "1.7", run: func(s *site) {
		first := s.bought("7", purchase{product: silver})
		second := s.buy("7", purchase{product: gold, replaces: first})
		s.front.acknowledge(s.t, gold, second)
		s.play.news()
		third := s.bought("7", purchase{product: silver, replaces: second})
		s.want("7", "active Silver")
		s.wantStates("7", "active", "superseded")
		s.verify("7", second)
		s.verify("7", first)
		s.want("7", "active Silver")
		s.renew("7", third)
		s.want("7", "active Silver")
	}},
	{name: "signed up again in the app after the end", rule: "1.7", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.expire, token)
		s.deliver()
		s.bought("7", purchase{product: gold})
		s.deliver()
		s.want("7", "active Gold")
		if states := s.states("7"); !strings.HasPrefix(states, "active ") {
			s.t.Errorf("purchases: %s", states)
		}
	}},
	{name: "signed up again in the app before the end", rule: "1.7", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.cancel, token)
		s.deliver()
		s.bought("7", purchase{product: gold, replaces: token})
		s.deliver()
		s.want("7", "active Gold")
		s.wantStates("7", "active", "superseded")
	}},
	{name: "signed up again outside of the app, and the account id is sent with the acknowledgement", rule: "1.1, 1.4", run: func(s *site) {
		account := s.account("7")
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.cancel, token)
		s.pass(32 * day)
		s.deliver()
		s.want("7", "expired")
		again, err := s.play.buyAgain(token)
		s.check(err)
		s.deliver()
		s.want("7", "active Gold")
		if sent := s.front.acknowledgement(again).account; sent != account {
			s.t.Errorf("acknowledged with %q", sent)
		}
		s.verified("7", again)
		s.refused("8", again, 409, "owned_by_other_user")
	}},
}

// states are the states of a user's purchases, newest first.
func (s *site) states(user string) string {
	s.t.Helper()
	var list []string
	for _, p := range s.purchases(user) {
		list = append(list, p.State)
	}
	return strings.Join(list, " ")
}

func (s *site) wantStates(user string, want ...string) {
	s.t.Helper()
	if got := s.states(user); got != strings.Join(want, " ") {
		s.t.Errorf("purchases: %s, want %s", got, strings.Join(want, " "))
	}
}
