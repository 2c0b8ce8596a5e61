package playdoc

import (
	"strings"
	"time"
)

// getSubscription is purchases.subscriptionsv2.get.
func (p *Play) getSubscription(c call) (any, error) {
	s, err := c.subscription(p, c.vars[0])
	if err != nil {
		return nil, err
	}
	return p.render(s, c.now), nil
}

// acknowledge is purchases.subscriptions.acknowledge. Chosen: a second call changes nothing
// and succeeds; a product in the path is optional, but never a wrong one.
func (p *Play) acknowledge(c call) (any, error) {
	s, err := c.subscription(p, c.vars[1])
	if err != nil {
		return nil, err
	}
	var body struct {
		Payload string `json:"developerPayload"`
		IDs     *struct {
			Account string `json:"obfuscatedAccountId"`
			Profile string `json:"obfuscatedProfileId"`
		} `json:"externalAccountIds"`
	}
	if err := c.read(&body); err != nil {
		return nil, err
	}
	switch {
	case c.vars[0] != "" && !s.has(c.vars[0]):
		return nil, invalid("The purchase is of another subscription.")
	case s.bought.IsZero() || s.state == expired:
		// Chosen: only paid purchases that have not ended are acknowledged.
		return nil, invalid("The purchase can't be acknowledged in its state.")
	case body.IDs != nil && s.outOfApp == nil:
		// The ids are for resubscriptions only, and have at most 64 characters (Reference).
		return nil, invalid("Only a resubscription takes account ids.")
	case body.IDs != nil && max(len(body.IDs.Account), len(body.IDs.Profile)) > 64:
		return nil, invalid("An account id is longer than 64 characters.")
	case body.IDs != nil && !s.acknowledged:
		s.account, s.profile = body.IDs.Account, body.IDs.Profile
	}
	s.acknowledged = true
	return nil, nil
}

func (s *subscription) has(product string) bool {
	for _, it := range s.all() {
		if it.product == product {
			return true
		}
	}
	return false
}

// cancelSubscription is purchases.subscriptionsv2.cancel. A cancellation for the user can be
// restored, one by the developer can't (Manage). Chosen: the first is the user's in the
// context too, and a subscription that does not renew is refused.
func (p *Play) cancelSubscription(c call) (any, error) {
	s, err := c.subscription(p, c.vars[0])
	if err != nil {
		return nil, err
	}
	var body struct {
		Context *struct {
			Type string `json:"cancellationType"`
		} `json:"cancellationContext"`
	}
	if err := c.read(&body); err != nil {
		return nil, err
	}
	if body.Context == nil || body.Context.Type == "" {
		return nil, refuse(400, "required", "The cancellation context has no type.")
	}
	by := map[string]string{"USER_REQUESTED_STOP_RENEWALS": byUser, "DEVELOPER_REQUESTED_STOP_PAYMENTS": byDeveloper}[body.Context.Type]
	if by == "" {
		return nil, invalid("Unknown type of cancellation.")
	}
	if err := s.mayCancel(); err != nil && !(s.leaving && by == byDeveloper) {
		return nil, err
	}
	p.cancel(s, by, c.now)
	return empty{}, nil
}

// revokeSubscription is purchases.subscriptionsv2.revoke (Manage, revoke and refund).
func (p *Play) revokeSubscription(c call) (any, error) {
	s, err := c.subscription(p, c.vars[0])
	if err != nil {
		return nil, err
	}
	var body struct {
		Context struct {
			Full     *empty `json:"fullRefund"`
			Prorated *empty `json:"proratedRefund"`
			Item     *struct {
				Product string `json:"productId"`
			} `json:"itemBasedRefund"`
		} `json:"revocationContext"`
	}
	if err := c.read(&body); err != nil {
		return nil, err
	}
	share := 1.0
	switch context := body.Context; {
	case context.Item != nil && (context.Full != nil || context.Prorated != nil):
		return nil, refuse(400, "required", "The revocation context has to have one kind of refund.")
	case context.Item != nil:
		return empty{}, p.revokeItem(s, context.Item.Product, c.now)
	case (context.Full == nil) == (context.Prorated == nil):
		return nil, refuse(400, "required", "The revocation context has to have one kind of refund.")
	case context.Prorated != nil:
		share = p.unused(s, c.now)
	}
	if err := p.revokeAndRefund(s, share, c.now); err != nil {
		return nil, err
	}
	return empty{}, nil
}

// deferSubscription is purchases.subscriptionsv2.defer: by a day at least and a year at most,
// for active and prepaid subscriptions, and all items alike (Manage, defer billing). Chosen:
// an etag that does not match is 409.
func (p *Play) deferSubscription(c call) (any, error) {
	s, err := c.subscription(p, c.vars[0])
	if err != nil {
		return nil, err
	}
	var body struct {
		Context struct {
			Duration string `json:"deferDuration"`
			ETag     string `json:"etag"`
			DryRun   bool   `json:"validateOnly"`
		} `json:"deferralContext"`
	}
	if err := c.read(&body); err != nil {
		return nil, err
	}
	by, err := time.ParseDuration(body.Context.Duration)
	switch {
	case body.Context.Duration == "" || body.Context.ETag == "":
		return nil, refuse(400, "required", "The deferral context has to have a duration and an etag.")
	case err != nil || !strings.HasSuffix(body.Context.Duration, "s") || by < 24*time.Hour || by > 366*24*time.Hour:
		return nil, invalid("The duration has to be in seconds, from a day to a year.")
	case body.Context.ETag != p.render(s, c.now).ETag:
		return nil, refuse(409, "concurrentUpdate", "The etag is not that of the subscription.")
	case s.state != active || !s.declined.IsZero():
		return nil, invalid("Only an active subscription is deferred.")
	}
	details := []map[string]string{}
	for _, it := range s.all() {
		if it.expires.After(c.now) {
			details = append(details, map[string]string{"productId": it.product, "expiryTime": stamp(it.expires.Add(by))})
		}
		if it.expires.After(c.now) && !body.Context.DryRun {
			it.expires = it.expires.Add(by)
		}
	}
	if !body.Context.DryRun {
		p.notify(s, subscriptionDeferred, c.now)
	}
	return map[string]any{"itemExpiryTimeDetails": details}, nil
}
