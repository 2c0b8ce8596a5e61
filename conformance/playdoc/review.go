package playdoc

import (
	"errors"
	"slices"
)

// reviewNotification is PendingRefundReviewNotification (RTDN).
type reviewNotification struct {
	Version string `json:"version"`
	Token   string `json:"pendingRefundToken"`
	Order   string `json:"orderId"`
	Account string `json:"obfuscatedAccountId,omitempty"`
	Reason  int    `json:"refundReason"`
}

// ReviewChargeback asks the developer about a chargeback of an order, which changes nothing
// (Suggestions).
func (p *Play) ReviewChargeback(order string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	o := p.orders[order]
	if o == nil || o.state != "PROCESSED" {
		return errors.New("playdoc: no paid order")
	}
	o.reviewToken, o.answer = random(40, base64s), ""
	account := ""
	if s := p.find(o.token); s != nil {
		account = s.account
	} else if once := p.findOnce(o.token); once != nil {
		account = once.purchase.Account
	}
	review := reviewNotification{"1.0", o.reviewToken, o.id, account, chargeback}
	p.publish(notification{Review: review}, p.now())
	return nil
}

// ReviewAnswer is the developer's answer about an order, "" for none.
func (p *Play) ReviewAnswer(order string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o := p.orders[order]; o != nil {
		return o.answer
	}
	return ""
}

// reviewRefund is orders.reviewrefund. The first answer is recorded; others are ignored, and
// succeed too (Suggestions). Chosen: a token of another order is invalid, and an answer after
// 24 hours is recorded.
func (p *Play) reviewRefund(c call) (any, error) {
	o, err := p.order(c.vars[0])
	if err != nil {
		return nil, err
	}
	var body struct {
		Token      string `json:"pendingRefundToken"`
		Sample     *bool  `json:"sampleContentProvided"`
		Preference string `json:"refundPreference"`
		Percentage int    `json:"consumptionPercentageMilliunits"`
		Events     []any  `json:"consumptionUsageEvents"`
	}
	if err := c.read(&body); err != nil {
		return nil, err
	}
	switch {
	case body.Token == "" || body.Sample == nil || body.Preference == "":
		return nil, refuse(400, "required", "The review has to have a token, a preference, and whether a sample was provided.")
	case body.Token != o.reviewToken, !slices.Contains([]string{"APPROVE", "DECLINE", "NEUTRAL"}, body.Preference),
		body.Percentage < 0, body.Percentage > 100_000, len(body.Events) > 1000:
		return nil, invalid("The review is not valid.")
	case o.answer == "":
		o.answer = body.Preference
	}
	return empty{}, nil
}
