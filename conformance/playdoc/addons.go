package playdoc

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// keepExisting is the replacement mode of an item that stays as it is (Add-ons, modification).
const keepExisting = "KEEP_EXISTING"

// mostItems is how many items a purchase has at most (Add-ons, considerations).
const mostItems = 50

// mayAddOns wants plans that renew, in the period of the base item (Add-ons, considerations).
func (p *Play) mayAddOns(b Purchase, base Plan) error {
	if len(b.AddOns) >= mostItems {
		return fmt.Errorf("more than %d items", mostItems)
	}
	for i, product := range b.AddOns {
		plan, ok := p.plan(product, "")
		if !ok || plan.Prepaid || base.Prepaid || plan.Period != base.Period || product == b.Product || slices.Contains(b.AddOns[:i], product) {
			return fmt.Errorf("%s can't be an add-on", product)
		}
	}
	return nil
}

// ChangeAddOns changes the add-ons in the app, and returns the token of the purchase in which
// this results: any change is an upgrade or a downgrade (Add-ons, modify).
func (p *Play) ChangeAddOns(token string, addOns ...string) (string, error) {
	p.mu.Lock()
	s := p.find(token)
	p.mu.Unlock()
	if s == nil {
		return "", errors.New("playdoc: unknown token")
	}
	b := s.purchase
	b.Linked, b.Mode, b.AddOns, b.OutOfApp, b.Account, b.Profile = token, keepExisting, addOns, "", s.account, s.profile
	return p.Buy(b)
}

// keep takes the base item over with its price, and changes the add-ons: a new one begins at
// once for a prorated charge, and one that is left out ends with its period (Add-ons, table of
// modifications). Chosen: the orders of kept items go over to the new token.
func (p *Play) keep(s, old *subscription, now time.Time) {
	base := *old.current()
	s.items, s.renewals, s.leaving = []*item{&base}, old.renewals, old.leaving
	for _, was := range old.running() {
		kept := *was
		kept.removing = !slices.Contains(s.purchase.AddOns, kept.product)
		s.addOns = append(s.addOns, &kept)
	}
	for _, it := range s.all() {
		if o := p.orders[it.order]; o != nil {
			o.token = s.token
		}
	}
	p.buyAddOns(s, now)
}

// buyAddOns starts the add-ons that a purchase does not have yet, until the renewal of the
// base item. Chosen: each item is paid with an order of its own, at the share of its price
// for the time that is left.
func (p *Play) buyAddOns(s *subscription, now time.Time) {
	for _, product := range s.purchase.AddOns {
		if slices.ContainsFunc(s.addOns, func(it *item) bool { return it.product == product }) {
			continue
		}
		plan, _ := p.plan(product, "")
		if s.purchase.Test {
			plan = plan.forTester()
		}
		it := &item{product: product, plan: plan, phase: basePhase, expires: s.current().expires}
		price := plan.Price
		if left := it.expires.Sub(now); it.expires.Before(plan.Period.after(now)) {
			it.phase, price = prorationPhase, money(price.Currency, rate(it, now)*left.Seconds())
		}
		it.order = p.charge(s, charge{at: now, from: now, price: price, of: it}).id
		s.addOns = append(s.addOns, it)
	}
}

// renewAddOns renews the add-ons with the base item. Those that were to be removed have ended;
// chosen: they stay in the list, as the old item of a deferred replacement does.
func (p *Play) renewAddOns(s *subscription, from, at time.Time) {
	for _, it := range s.running() {
		if it.removing {
			it.removing, it.removed = false, true
			continue
		}
		it.expires, it.phase = s.current().expires, basePhase
		it.order = p.charge(s, charge{at: at, from: from, price: it.plan.Price, of: it}).id
	}
}

// revokeItem is a revocation of one item with a full refund; the others go on (Add-ons, revoke
// individual item). Chosen: the base item is revoked with the last of the others only, and the
// notification is that of a changed item.
func (p *Play) revokeItem(s *subscription, product string, now time.Time) error {
	if !s.entitled() || !s.declined.IsZero() {
		return invalid("No item can be revoked in this state.")
	}
	running := s.running()
	at := slices.IndexFunc(running, func(it *item) bool { return it.product == product })
	switch {
	case at < 0 && s.current().product == product && len(running) == 0:
		return p.revokeAndRefund(s, 1, now)
	case at < 0:
		return invalid("No such item.")
	}
	it := running[at]
	if o := p.orders[it.order]; o != nil && o.state == "PROCESSED" {
		p.void(o, o.price, now, voidedByDeveloper, otherReason)
	}
	it.expires, it.removing, it.removed = now, false, true
	p.notify(s, subscriptionItemsChanged, now)
	return nil
}

// all are all items.
func (s *subscription) all() []*item { return slices.Concat(s.items, s.addOns) }

// running are the add-ons that have not ended, and staying those that will renew.
func (s *subscription) running() []*item {
	return slices.DeleteFunc(slices.Clone(s.addOns), func(it *item) bool { return it.removed })
}

func (s *subscription) staying() []*item {
	return slices.DeleteFunc(s.running(), func(it *item) bool { return it.removing })
}

// setExpiry moves the end of the access to all items.
func (s *subscription) setExpiry(at time.Time) {
	for _, it := range append(s.running(), s.current()) {
		it.expires = at
	}
}
