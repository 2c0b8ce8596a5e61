package playdoc

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Who voided a purchase, and why (Reference, VoidedPurchase).
const (
	voidedByUser = iota
	voidedByDeveloper
	voidedByGoogle
)

const (
	otherReason            = 0
	chargeback             = 7
	unacknowledgedPurchase = 8
)

// order is one payment: the purchase, or a renewal.
type order struct {
	id, token, state            string
	item                        item // as it was
	title, region, channel      string
	price, refunded             Money
	created, processedAt        time.Time
	refundedAt, canceledAt      time.Time
	from, to                    time.Time
	quantity                    int // of a one-time product, else 0
	chargedBack, partlyRefunded bool
	reviewToken, answer         string // of a chargeback review
}

// voided is an entry of the list of voided purchases.
type voided struct {
	order          *order
	at             time.Time
	source, reason int
}

// charge is a payment, or an attempt of one.
type charge struct {
	at, from time.Time
	price    Money
	unpaid   bool
	of       *item // nil: the item that renews
}

// charge writes an order. Each renewal has a number of its own (Reference, Order; RTDN,
// voided purchases). Chosen: the purchase's number with "..0", "..1" and so on, which pages
// of Google no longer describe and developers see.
func (p *Play) charge(s *subscription, c charge) *order {
	id := s.orderBase
	if s.orders > 0 {
		id = fmt.Sprintf("%s..%d", s.orderBase, s.orders-1)
	}
	s.orders++
	it := *cmp.Or(c.of, s.items[len(s.items)-1])
	o := &order{id: id, token: s.token, state: "PENDING", item: it, title: p.title(it.product), region: s.purchase.Region,
		channel: "IN_APP", price: c.price, created: c.at, from: c.from, to: it.expires}
	if s.outOfApp != nil {
		o.channel = "PLAY_STORE"
	}
	p.orders[id] = o
	if !c.unpaid {
		p.process(o, c.at)
	}
	return o
}

func (p *Play) process(o *order, at time.Time) { o.state, o.processedAt = "PROCESSED", at }

// void pays an order back, and lists and announces it as voided. Chosen: a prorated
// refund, which ends the subscription, is listed too, and announced as a full refund,
// because the partial kind is for multi-quantity purchases only (RTDN).
func (p *Play) void(o *order, amount Money, at time.Time, source, reason int) {
	p.voided = append(p.voided, voided{o, at, source, reason})
	p.refund(o, amount, at, reason)
}

// refund is void without the list: only revoked orders are on it (Voided,
// ways of voiding). Chosen: such an order is announced too.
func (p *Play) refund(o *order, amount Money, at time.Time, reason int) {
	o.state, o.refunded, o.refundedAt = "REFUNDED", amount, at
	if amount != o.price {
		o.state, o.partlyRefunded = "PARTIALLY_REFUNDED", true
	}
	o.chargedBack = reason == chargeback
	p.notifyVoided(o, at)
}

// refundOrder is orders.refund. Orders of more than three years can't be refunded (Reference).
func (p *Play) refundOrder(o *order, revoke bool, now time.Time) error {
	if o.state != "PROCESSED" || now.After(o.created.AddDate(3, 0, 0)) {
		return errors.New("the order can't be refunded")
	}
	if !revoke {
		p.refund(o, o.price, now, otherReason)
		return nil
	}
	p.void(o, o.price, now, voidedByDeveloper, otherReason)
	p.revokeOnce(o.token)
	if s := p.find(o.token); s != nil && s.entitled() && s.current().order == o.id {
		p.revoke(s, byDeveloper, now)
	}
	return nil
}

// revokeAndRefund is subscriptionsv2.revoke. Only current access can be revoked, and the
// refund is a share of the last order of each item (Manage, notes on refunds and revocations;
// Add-ons, revoke and refund).
func (p *Play) revokeAndRefund(s *subscription, share float64, now time.Time) error {
	if !s.entitled() {
		return errors.New("the subscription has no access to revoke")
	}
	for _, it := range append([]*item{s.current()}, s.running()...) {
		o := p.orders[it.order]
		if o == nil || o.state != "PROCESSED" {
			continue
		}
		amount := o.price
		if share < 1 {
			amount = money(o.price.Currency, o.price.value()*share)
		}
		p.void(o, amount, now, voidedByDeveloper, otherReason)
	}
	p.revoke(s, byDeveloper, now)
	return nil
}

// unused is the share of the last period that is left.
func (p *Play) unused(s *subscription, now time.Time) float64 {
	o := p.orders[s.current().order]
	if o == nil || !o.to.After(o.from) {
		return 1
	}
	return min(1, max(0, o.to.Sub(now).Seconds()/o.to.Sub(o.from).Seconds()))
}
