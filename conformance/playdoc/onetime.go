package playdoc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The states of purchases of one-time products (Reference, PurchaseState).
const (
	oncePurchased = "PURCHASED"
	oncePending   = "PENDING"
	onceCancelled = "CANCELLED"
)

// The types of notifications about one-time products (RTDN).
const (
	oneTimePurchased = 1
	oneTimeCanceled  = 2 // a pending purchase was canceled
)

// OneTimeProduct is a one-time product as the console has it, with one purchase option.
type OneTimeProduct struct {
	ID, Title, Option string
	Price             Money
}

// OneTimePurchase is a one-time product that a user buys.
type OneTimePurchase struct {
	Product string
	// Account is the obfuscated id that the app sets.
	Account  string
	Quantity int // 1 by default
	Pending  bool
	Test     bool // bought by a license tester
}

// oneTime is a purchase of a one-time product.
type oneTime struct {
	token, state, order    string
	product                OneTimeProduct
	purchase               OneTimePurchase
	completed              time.Time // of the payment
	acknowledged, consumed bool
	refundable             int
}

// BuyOnce buys a one-time product and returns its token. A product is owned until its
// purchase is consumed (Lifecycle of one-time purchases, in Integrate). Chosen: the account
// id stands for the buyer.
func (p *Play) BuyOnce(b OneTimePurchase) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	at := slices.IndexFunc(p.options.OneTime, func(o OneTimeProduct) bool { return o.ID == b.Product })
	if at < 0 {
		return "", fmt.Errorf("playdoc: no one-time product %s", b.Product)
	}
	for _, o := range p.once {
		if b.Account != "" && o.purchase.Account == b.Account && o.product.ID == b.Product && o.state != onceCancelled && !o.consumed {
			return "", errors.New("playdoc: the product is owned")
		}
	}
	b.Quantity = max(b.Quantity, 1)
	o := &oneTime{token: random(24, letters) + ".AO-J1O" + random(86, base64s), state: oncePending, product: p.options.OneTime[at], purchase: b, refundable: b.Quantity}
	p.once = append(p.once, o)
	if !b.Pending {
		p.complete(o, p.now())
	}
	return o.token, nil
}

// complete takes the payment. ONE_TIME_PRODUCT_PURCHASED follows it (RTDN).
func (p *Play) complete(o *oneTime, now time.Time) {
	price := o.product.Price
	price.Units, price.Nanos = price.Units*int64(o.purchase.Quantity), price.Nanos*int32(o.purchase.Quantity)
	paid := &order{
		id: fmt.Sprintf("GPA.%s-%s-%s-%s", random(4, digits), random(4, digits), random(4, digits), random(5, digits)), token: o.token,
		item: item{product: o.product.ID, plan: Plan{ID: o.product.Option, Price: o.product.Price}}, quantity: o.purchase.Quantity,
		title: o.product.Title, region: "US", channel: "IN_APP", price: price, created: now, from: now, to: now,
	}
	p.process(paid, now)
	p.orders[paid.id] = paid
	o.state, o.completed, o.order = oncePurchased, now, paid.id
	p.notifyOnce(o, oneTimePurchased, now)
}

// oneTimeNotification is OneTimeProductNotification (RTDN).
type oneTimeNotification struct {
	Version string `json:"version"`
	Type    int    `json:"notificationType"`
	Token   string `json:"purchaseToken"`
	SKU     string `json:"sku"`
}

func (p *Play) notifyOnce(o *oneTime, kind int, at time.Time) {
	p.publish(notification{OneTime: oneTimeNotification{"1.0", kind, o.token, o.product.ID}}, at)
}

// PayOnce pays a pending purchase.
func (p *Play) PayOnce(token string) error {
	return p.actOnce(token, oncePending, func(o *oneTime, now time.Time) { p.complete(o, now) })
}

// CancelOnce cancels a pending purchase.
func (p *Play) CancelOnce(token string) error {
	return p.actOnce(token, oncePending, func(o *oneTime, now time.Time) {
		o.state = onceCancelled
		p.notifyOnce(o, oneTimeCanceled, now)
	})
}

// RefundPart refunds some of a quantity, which only a notification and the purchase show
// (RTDN, refundType; Reference, refundableQuantity).
func (p *Play) RefundPart(token string, n int) error {
	return p.actOnce(token, oncePurchased, func(o *oneTime, now time.Time) {
		o.refundable -= n
		p.publish(notification{Voided: voidedNotification{o.token, o.order, ofOneTime, inPart}}, now)
	})
}

func (p *Play) actOnce(token, state string, act func(o *oneTime, now time.Time)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	o := p.findOnce(token)
	if o == nil || o.state != state {
		return fmt.Errorf("playdoc: no one-time purchase in %s", state)
	}
	act(o, p.now())
	return nil
}

func (p *Play) findOnce(token string) *oneTime {
	at := slices.IndexFunc(p.once, func(o *oneTime) bool { return o.token == token })
	if at < 0 {
		return nil
	}
	return p.once[at]
}

// settleOnce refunds what was not acknowledged within three days (Integrate), five minutes for
// license testers (Test).
func (p *Play) settleOnce() {
	for _, o := range p.once {
		deadline := o.completed.AddDate(0, 0, 3)
		if o.purchase.Test {
			deadline = o.completed.Add(5 * time.Minute)
		}
		if o.state == oncePurchased && !o.acknowledged && !p.now().Before(deadline) {
			paid := p.orders[o.order]
			p.void(paid, paid.price, deadline, voidedByGoogle, unacknowledgedPurchase)
			p.revokeOnce(o.token)
		}
	}
}

// revokeOnce ends the access to a one-time product whose order was refunded.
func (p *Play) revokeOnce(token string) {
	if o := p.findOnce(token); o != nil {
		o.state, o.refundable = onceCancelled, 0
	}
}

// oneTimePurchase finds the token of a call. Chosen: that of a subscription is malformed here.
func (c call) oneTimePurchase(p *Play, token string) (*oneTime, error) {
	o := p.findOnce(token)
	switch {
	case o != nil:
		return o, nil
	case token == "" || strings.Trim(token, base64s+".") != "" || p.find(token) != nil:
		return nil, invalid("The purchase token is malformed.")
	}
	return nil, refuse(404, "notFound", "No such purchase token.")
}

// getOneTime is purchases.productsv2.getproductpurchasev2.
func (p *Play) getOneTime(c call) (any, error) {
	o, err := c.oneTimePurchase(p, c.vars[0])
	if err != nil {
		return nil, err
	}
	acknowledged, consumed := "ACKNOWLEDGEMENT_STATE_PENDING", "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"
	if o.acknowledged {
		acknowledged = "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
	}
	if o.consumed {
		consumed = "CONSUMPTION_STATE_CONSUMED"
	}
	details := map[string]any{"consumptionState": consumed, "purchaseOptionId": o.product.Option, "quantity": o.purchase.Quantity}
	if o.refundable > 0 {
		details["refundableQuantity"] = o.refundable
	}
	answer := map[string]any{
		"kind": "androidpublisher#productPurchaseV2", "purchaseStateContext": map[string]string{"purchaseState": o.state}, "regionCode": "US",
		"acknowledgementState": acknowledged, "productLineItem": []any{map[string]any{"productId": o.product.ID, "productOfferDetails": details}},
	}
	optional := map[string]string{"orderId": o.order, "purchaseCompletionTime": stamp(o.completed), "obfuscatedExternalAccountId": o.purchase.Account}
	for name, value := range optional {
		if value != "" {
			answer[name] = value
		}
	}
	if o.purchase.Test {
		answer["testPurchaseContext"] = map[string]string{"fopType": "TEST"}
	}
	return answer, nil
}

// acknowledgeOneTime is purchases.products.acknowledge. Chosen: a second call changes nothing.
func (p *Play) acknowledgeOneTime(c call) (any, error) {
	var body struct {
		Payload string `json:"developerPayload"`
	}
	o, err := c.owned(p, &body)
	if err == nil {
		o.acknowledged = true
	}
	return nil, err
}

// consumeOneTime is purchases.products.consume, which acknowledges too (Integrate).
func (p *Play) consumeOneTime(c call) (any, error) {
	o, err := c.owned(p, &struct{}{})
	if err == nil {
		o.acknowledged, o.consumed = true, true
	}
	return nil, err
}

// owned finds the purchase that a call acts on, and reads its body. Chosen: the reason for one that was consumed.
func (c call) owned(p *Play, body any) (*oneTime, error) {
	o, err := c.oneTimePurchase(p, c.vars[1])
	if err != nil {
		return nil, err
	}
	if err := c.read(body); err != nil {
		return nil, err
	}
	if o.product.ID != c.vars[0] || o.state != oncePurchased || o.consumed {
		return nil, refuse(400, "productNotOwnedByUser", "The user does not own the product.")
	}
	return o, nil
}

// listOneTime is monetization.onetimeproducts.list, with all products on one page.
func (p *Play) listOneTime(call) (any, error) {
	all := []any{}
	for _, o := range p.options.OneTime {
		all = append(all, map[string]any{
			"packageName": p.options.Package, "productId": o.ID, "listings": []any{map[string]string{"languageCode": "en-US", "title": o.Title}},
			"purchaseOptions": []any{map[string]any{"purchaseOptionId": o.Option, "state": "ACTIVE", "buyOption": empty{}}},
		})
	}
	if len(all) == 0 {
		return map[string]any{}, nil
	}
	return map[string]any{"oneTimeProducts": all}, nil
}
