package playdoc

import (
	"errors"
	"time"
)

// notice is how long before a higher price its change is announced (Prices, price increases).
const notice = Period("P37D")

// The states of changes of prices (Reference, PriceChangeState).
const (
	priceOutstanding = "OUTSTANDING"
	priceConfirmed   = "CONFIRMED"
	priceApplied     = "APPLIED"
	priceCanceled    = "CANCELED"
)

// priceChange is the last increase of the price of an item, which its user has to accept.
type priceChange struct {
	state string
	price Money
	from  time.Time // of the first renewal at the new price, or before it
}

type priceChangeResource struct {
	New    Money  `json:"newPrice"`
	Mode   string `json:"priceChangeMode"`
	State  string `json:"priceChangeState"`
	Charge string `json:"expectedNewPriceChargeTime,omitempty"`
}

// IncreasePrice raises the price of a plan for new purchases at once, and ends the legacy
// price cohort with an opt-in increase: it counts from the first renewal after 37 days, and
// each change of its state is announced (Prices; Lifecycle, price changes). Chosen:
// subscriptions whose payment is declined are not asked, and the chance to accept begins at
// once, not after the seven days without notices.
func (p *Play) IncreasePrice(product, plan string, price Money) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	found := p.planOf(product, plan)
	if found == nil || found.Prepaid || price.value() <= found.Price.value() {
		return errors.New("playdoc: no such plan that renews, or not a higher price")
	}
	found.Price = price
	now := p.now()
	for _, s := range p.subscriptions {
		if it := s.current(); s.state == active && s.renews && s.declined.IsZero() && it.product == product && it.plan.ID == found.ID {
			it.change = &priceChange{priceOutstanding, price, notice.after(now)}
			p.notify(s, subscriptionPriceChangeUpdated, now)
		}
	}
	return nil
}

func (p *Play) planOf(product, plan string) *Plan {
	for _, each := range p.options.Products {
		for i := range each.Plans {
			if each.ID == product && (each.Plans[i].ID == plan || plan == "") {
				return &each.Plans[i]
			}
		}
	}
	return nil
}

// AcceptPrice accepts a higher price for the user. The deprecated notification is sent too
// (Lifecycle, note on the confirmation).
func (p *Play) AcceptPrice(token string) error {
	return p.act(token, func(s *subscription, now time.Time) error {
		change := s.current().change
		if change == nil || change.state != priceOutstanding || s.state == expired {
			return errors.New("no price waits to be accepted")
		}
		change.state = priceConfirmed
		p.notify(s, subscriptionPriceChangeUpdated, now)
		p.notify(s, subscriptionPriceChangeConfirmed, now)
		return nil
	})
}

// refused reports whether a renewal at a time would be at a price that was not accepted. The
// subscription is canceled then, and expires (Prices, user response).
func (it *item) refused(at time.Time) bool {
	return it.change != nil && it.change.state == priceOutstanding && !at.Before(it.change.from)
}

// priceAt is the price of a renewal at a time.
func (it *item) priceAt(at time.Time) Money {
	if it.change != nil && it.change.state == priceConfirmed && !at.Before(it.change.from) {
		return it.change.price
	}
	return it.plan.Price
}

// applyPrice renews at the new price from its time on.
func (p *Play) applyPrice(s *subscription, from, at time.Time) {
	it := s.current()
	if price := it.priceAt(from); price != it.plan.Price {
		it.plan.Price, it.change.state = price, priceApplied
		p.notify(s, subscriptionPriceChangeUpdated, at)
	}
}

func (it *item) renderChange() *priceChangeResource {
	change := it.change
	if change == nil {
		return nil
	}
	r := &priceChangeResource{New: change.price, Mode: "PRICE_INCREASE", State: change.state}
	if change.state == priceOutstanding || change.state == priceConfirmed {
		next := it.expires
		for next.Before(change.from) {
			next = it.plan.Period.after(next)
		}
		r.Charge = stamp(next)
	}
	return r
}
