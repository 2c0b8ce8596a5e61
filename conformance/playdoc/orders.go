package playdoc

import (
	"slices"
	"time"
)

// The parts of an Order (Reference, orders). Chosen: no taxes, and no share of Google.
type (
	orderResource struct {
		ID      string            `json:"orderId"`
		Token   string            `json:"purchaseToken"`
		State   string            `json:"state"`
		Created string            `json:"createTime"`
		Changed string            `json:"lastEventTime"`
		Buyer   map[string]string `json:"buyerAddress"`
		Channel string            `json:"salesChannel"`
		Total   Money             `json:"total"`
		Tax     Money             `json:"tax"`
		Items   []orderItem       `json:"lineItems"`
		Details empty             `json:"orderDetails"`
		History orderHistory      `json:"orderHistory"`
	}
	orderItem struct {
		Product      string          `json:"productId"`
		Title        string          `json:"productTitle"`
		Listing      Money           `json:"listingPrice"`
		Total        Money           `json:"total"`
		Tax          Money           `json:"tax"`
		Subscription *orderDetails   `json:"subscriptionDetails,omitempty"`
		OneTime      *oneTimeDetails `json:"oneTimePurchaseDetails,omitempty"`
	}
	oneTimeDetails struct {
		Option   string `json:"purchaseOptionId"`
		Quantity int    `json:"quantity"`
	}
	orderDetails struct {
		Plan         string           `json:"basePlanId"`
		Offer        string           `json:"offerId,omitempty"`
		Phase        string           `json:"offerPhase,omitempty"`
		PhaseDetails map[string]empty `json:"offerPhaseDetails,omitempty"`
		Start        string           `json:"servicePeriodStartTime,omitempty"`
		End          string           `json:"servicePeriodEndTime,omitempty"`
	}
	orderHistory struct {
		Processed *orderEvent     `json:"processedEvent,omitempty"`
		Canceled  *orderEvent     `json:"cancellationEvent,omitempty"`
		Refunded  *orderEvent     `json:"refundEvent,omitempty"`
		Partly    []partialRefund `json:"partialRefundEvents,omitempty"`
	}
	orderEvent struct {
		Time    string         `json:"eventTime"`
		Details *refundDetails `json:"refundDetails,omitempty"`
		Reason  string         `json:"refundReason,omitempty"`
	}
	partialRefund struct {
		Created   string        `json:"createTime"`
		Processed string        `json:"processTime"`
		State     string        `json:"state"`
		Details   refundDetails `json:"refundDetails"`
	}
	refundDetails struct {
		Total Money `json:"total"`
		Tax   Money `json:"tax"`
	}
)

func (o *order) render() orderResource {
	none := Money{Currency: o.price.Currency}
	changed := o.created
	for _, t := range []time.Time{o.processedAt, o.refundedAt, o.canceledAt} {
		if t.After(changed) {
			changed = t
		}
	}
	// The old and the new names of the phases; a proration period has only the new one.
	phases := map[string][2]string{basePhase: {"BASE", "baseDetails"}, trialPhase: {"FREE_TRIAL", "freeTrialDetails"},
		introductoryPhase: {"INTRODUCTORY", "introductoryPriceDetails"}, prorationPhase: {"", "prorationPeriodDetails"}}
	phase := phases[o.item.phase]
	details := orderDetails{Plan: o.item.plan.ID, Offer: o.item.offer, Phase: phase[0], PhaseDetails: map[string]empty{phase[1]: {}}, Start: stamp(o.from), End: stamp(o.to)}
	line := orderItem{Product: o.item.product, Title: o.title, Listing: o.item.plan.Price, Total: o.price, Tax: none, Subscription: &details}
	if o.quantity > 0 {
		line.Subscription, line.OneTime = nil, &oneTimeDetails{o.item.plan.ID, o.quantity}
	}
	return orderResource{
		ID: o.id, Token: o.token, State: o.state, Created: stamp(o.created), Changed: stamp(changed),
		Buyer: map[string]string{"buyerCountry": o.region}, Channel: o.channel, Total: o.price, Tax: none,
		Items:   []orderItem{line},
		History: o.history(none),
	}
}

func (o *order) history(none Money) (h orderHistory) {
	if !o.processedAt.IsZero() {
		h.Processed = &orderEvent{Time: stamp(o.processedAt)}
	}
	if !o.canceledAt.IsZero() {
		h.Canceled = &orderEvent{Time: stamp(o.canceledAt)}
	}
	switch at := stamp(o.refundedAt); {
	case o.partlyRefunded:
		h.Partly = []partialRefund{{at, at, "PROCESSED_SUCCESSFULLY", refundDetails{o.refunded, none}}}
	case at != "":
		h.Refunded = &orderEvent{at, &refundDetails{o.refunded, none}, "OTHER"}
		if o.chargedBack {
			h.Refunded.Reason = "CHARGEBACK"
		}
	}
	return h
}

func (p *Play) order(id string) (*order, error) {
	if o := p.orders[id]; o != nil {
		return o, nil
	}
	return nil, refuse(404, "notFound", "No such order.")
}

// getOrder is orders.get.
func (p *Play) getOrder(c call) (any, error) {
	o, err := p.order(c.vars[0])
	if err != nil {
		return nil, err
	}
	return o.render(), nil
}

// getOrders is orders.batchGet: 1 to 1000 distinct numbers, and one that is unknown fails
// the whole request (Reference).
func (p *Play) getOrders(c call) (any, error) {
	ids := c.r.URL.Query()["orderIds"]
	if len(ids) == 0 {
		return nil, refuse(400, "required", "No order ids.")
	}
	answer := []orderResource{}
	for i, id := range ids {
		if len(ids) > 1000 || slices.Contains(ids[:i], id) {
			return nil, invalid("At most 1000 order ids, each once.")
		}
		o, err := p.order(id)
		if err != nil {
			return nil, err
		}
		answer = append(answer, o.render())
	}
	return map[string]any{"orders": answer}, nil
}

// postRefund is orders.refund.
func (p *Play) postRefund(c call) (any, error) {
	o, err := p.order(c.vars[0])
	if err != nil {
		return nil, err
	}
	return nil, p.refundOrder(o, c.r.URL.Query().Get("revoke") == "true", c.now)
}
