package playdoc

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Purchase is what a user buys.
type Purchase struct {
	// Product and Plan are of the catalogue; the first plan when Plan is empty.
	Product, Plan string
	Offer         string // "" for the base price
	// Account and Profile are the obfuscated ids that the app sets.
	Account, Profile string
	// AddOns are products that are bought with it, in their first plan.
	AddOns []string
	// Linked is the token of the subscription that this purchase replaces or tops up. Mode is
	// the replacement mode, "WITH_TIME_PRORATION" by default; "KEEP_EXISTING" changes only the
	// add-ons.
	Linked, Mode string
	// OutOfApp is the token of an expired subscription of the same product, bought again in
	// the subscription centre of Google Play.
	OutOfApp string
	// Pending purchases wait for their payment, see Pay.
	Pending bool
	Test    bool   // bought by a license tester
	Region  string // "US" by default
}

// Buy buys a subscription and returns its token. The notification SUBSCRIPTION_PURCHASED
// follows a payment only (RTDN). Chosen: pending purchases send nothing.
func (p *Play) Buy(b Purchase) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	if err := p.mayBuy(b); err != nil {
		return "", fmt.Errorf("playdoc: %w", err)
	}
	plan, _ := p.plan(b.Product, b.Plan)
	if b.Test {
		plan = plan.forTester()
	}
	if b.Region == "" {
		b.Region = "US"
	}
	s := &subscription{
		token: random(24, letters) + ".AO-J1O" + random(86, base64s), state: pending, purchase: b, renews: !plan.Prepaid,
		items:     []*item{{product: b.Product, plan: plan, offer: b.Offer}},
		account:   b.Account,
		profile:   b.Profile,
		orderBase: fmt.Sprintf("GPA.%s-%s-%s-%s", random(4, digits), random(4, digits), random(4, digits), random(5, digits)),
	}
	if b.OutOfApp != "" {
		// No ids and no linked token, but the context of the expired one (Lifecycle, resubscribe).
		s.outOfApp, s.account, s.profile = p.find(b.OutOfApp), "", ""
	}
	p.subscriptions = append(p.subscriptions, s)
	if !b.Pending {
		p.grant(s, p.now())
	}
	p.settle()
	return s.token, nil
}

func (p *Play) mayBuy(b Purchase) error {
	plan, ok := p.plan(b.Product, b.Plan)
	if !ok {
		return fmt.Errorf("no plan %s/%s", b.Product, b.Plan)
	}
	if _, ok := plan.offer(b.Offer); !ok {
		return fmt.Errorf("no offer %s", b.Offer)
	}
	if b.OutOfApp != "" {
		if old := p.find(b.OutOfApp); old == nil || old.state != expired || old.current().product != b.Product || b.Linked != "" {
			return errors.New("only an expired subscription of the same product is bought again out of the app")
		}
	}
	if err := p.mayAddOns(b, plan); err != nil || b.Linked == "" {
		return err
	}
	old := p.find(b.Linked)
	switch {
	case old == nil || !old.entitled():
		// After the expiry a purchase has no linked token (Subscriptions, customer management).
		return errors.New("only a subscription with access is replaced")
	case !old.acknowledged:
		// A change of plan waits for the acknowledgement (Lifecycle, upgrades).
		return errors.New("the replaced subscription is not acknowledged")
	case b.Mode == keepExisting && (old.current().product != b.Product || old.current().plan.ID != plan.ID):
		return errors.New("only the same plan is kept")
	}
	return nil
}

// Pay pays a pending purchase.
func (p *Play) Pay(token string) error {
	return p.act(token, func(s *subscription, now time.Time) error {
		if s.state != pending {
			return errors.New("the purchase is not pending")
		}
		if p.find(s.purchase.Linked) != nil && !p.find(s.purchase.Linked).entitled() {
			return errors.New("the replaced subscription has ended")
		}
		p.grant(s, now)
		return nil
	})
}

// grant starts a paid subscription and retires the one that it replaces.
func (p *Play) grant(s *subscription, now time.Time) {
	s.state, s.started, s.bought = active, now, now
	it := s.current()
	it.phase = basePhase
	if old := p.find(s.purchase.Linked); old != nil {
		if s.purchase.Mode == keepExisting {
			p.keep(s, old, now)
		} else {
			p.replace(s, old, now)
			p.buyAddOns(s, now)
		}
		p.notify(s, subscriptionPurchased, now)
		p.retire(old, now)
		return
	}
	period, price := it.plan.Period, it.plan.Price
	if offer, _ := it.plan.offer(it.offer); offer.ID != "" {
		period, price, it.phase = offer.Period, offer.Price, introductoryPhase
		if offer.Trial {
			price, it.phase = Money{Currency: it.plan.Price.Currency}, trialPhase
		}
	}
	it.expires = period.after(now)
	it.order = p.charge(s, charge{at: now, from: now, price: price}).id
	p.buyAddOns(s, now)
	p.notify(s, subscriptionPurchased, now)
}

// retire expires a subscription that was replaced (Subscriptions, deferred replacement,
// where the notification is described; chosen: every mode and top-up sends it).
func (p *Play) retire(old *subscription, now time.Time) {
	p.end(old, now)
	if !old.prepaid() {
		old.canceledBy, old.canceledAt = byReplacement, now
	}
	p.notify(old, subscriptionExpired, now)
}

// replacement is what an item replaced.
type replacement struct {
	Product string `json:"productId"`
	Plan    string `json:"basePlanId"`
	Offer   string `json:"offerId,omitempty"`
	Mode    string `json:"replacementMode"`
}

// replace starts an item in place of another. The modes are those of the Reference
// (ItemReplacement) and of Subscriptions; chosen: amounts and times by the price a second.
func (p *Play) replace(s, old *subscription, now time.Time) {
	from, to := old.current(), s.current()
	if from.plan.Prepaid && to.plan.Prepaid && from.product == to.product {
		// A top-up adds its time to the time that is left (Lifecycle, prepaid plans).
		to.expires = to.plan.Period.after(from.expires)
		to.order = p.charge(s, charge{at: now, from: from.expires, price: to.plan.Price}).id
		return
	}
	mode := s.purchase.Mode
	if mode == "" && from.product == to.product {
		mode = "WITHOUT_PRORATION" // the same product again renews on the old date (Subscriptions)
	} else if mode == "" {
		mode = "WITH_TIME_PRORATION"
	}
	to.replaced = &replacement{from.product, from.plan.ID, from.offer, mode}
	left := from.expires.Sub(now).Seconds()
	price := Money{Currency: to.plan.Price.Currency}
	credit := time.Duration(left * exchange(from, to, now) * float64(time.Second)).Truncate(time.Millisecond)
	to.phase = prorationPhase
	switch mode {
	case "DEFERRED":
		// Two items: the old one until its end, the new one without an expiry and an order.
		kept := *from
		kept.deferred, to.phase = to.product, ""
		s.items = []*item{&kept, to}
		return
	case "WITHOUT_PRORATION":
		to.expires, to.phase = from.expires, basePhase
	case "CHARGE_PRORATED_PRICE":
		to.expires, price = from.expires, money(price.Currency, left*(rate(to, now)-rate(from, now)))
	case "CHARGE_FULL_PRICE":
		to.expires, price = to.plan.Period.after(now).Add(credit), to.plan.Price
	default:
		to.expires = now.Add(credit)
	}
	to.order = p.charge(s, charge{at: now, from: now, price: price}).id
}

// rate is the price of a plan a second.
func rate(it *item, now time.Time) float64 {
	return it.plan.Price.value() / it.plan.Period.after(now).Sub(now).Seconds()
}

// exchange is how long of one item a second of another is worth.
func exchange(from, to *item, now time.Time) float64 {
	if rate(to, now) == 0 {
		return 1
	}
	return rate(from, now) / rate(to, now)
}

// money rounds an amount to hundredths; less than nothing is nothing.
func money(currency string, value float64) Money {
	hundredths := int64(math.Round(max(0, value) * 100))
	return Money{currency, hundredths / 100, int32(hundredths % 100 * 1e7)}
}
