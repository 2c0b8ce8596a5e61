package playdoc

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"
)

// The phases of an offer (Reference, OfferPhase), by the names of their members.
const (
	basePhase         = "basePrice"
	trialPhase        = "freeTrial"
	introductoryPhase = "introductoryPrice"
	prorationPhase    = "prorationPeriod"
)

// empty is an object whose presence is its meaning.
type empty struct{}

// resource is SubscriptionPurchaseV2 of the discovery document. It has no latestOrderId any
// more: the document of 2026 took the member out, while the pages still show it.
type resource struct {
	Kind          string         `json:"kind"`
	Region        string         `json:"regionCode,omitempty"`
	Start         string         `json:"startTime,omitempty"`
	State         string         `json:"subscriptionState"`
	Linked        string         `json:"linkedPurchaseToken,omitempty"`
	Acknowledged  string         `json:"acknowledgementState"`
	Items         []itemResource `json:"lineItems"`
	Paused        *pausedContext `json:"pausedStateContext,omitempty"`
	Canceled      map[string]any `json:"canceledStateContext,omitempty"`
	InGracePeriod *declined      `json:"inGracePeriodStateContext,omitempty"`
	OnHold        *declined      `json:"onHoldStateContext,omitempty"`
	Accounts      *accounts      `json:"externalAccountIdentifiers,omitempty"`
	OutOfApp      *outOfApp      `json:"outOfAppPurchaseContext,omitempty"`
	Test          *empty         `json:"testPurchase,omitempty"`
	ETag          string         `json:"etag,omitempty"`
}

type pausedContext struct {
	AutoResume string `json:"autoResumeTime"`
}

type declined struct {
	Renewal struct {
		Order string `json:"pendingOrderId"`
	} `json:"renewalDeclined"`
}

type accounts struct {
	Account string `json:"obfuscatedExternalAccountId,omitempty"`
	Profile string `json:"obfuscatedExternalProfileId,omitempty"`
}

type outOfApp struct {
	Accounts *accounts `json:"expiredExternalAccountIdentifiers,omitempty"`
	Token    string    `json:"expiredPurchaseToken"`
}

type itemResource struct {
	Product  string           `json:"productId"`
	Expires  string           `json:"expiryTime,omitempty"`
	Order    string           `json:"latestSuccessfulOrderId,omitempty"`
	Renewing *renewing        `json:"autoRenewingPlan,omitempty"`
	Prepaid  *prepaid         `json:"prepaidPlan,omitempty"`
	Offer    offerDetails     `json:"offerDetails"`
	Phase    map[string]empty `json:"offerPhase,omitempty"`
	Deferred *deferred        `json:"deferredItemReplacement,omitempty"`
	Removal  *empty           `json:"deferredItemRemoval,omitempty"`
	Replaced *replacement     `json:"itemReplacement,omitempty"`
}

type renewing struct {
	Enabled bool                 `json:"autoRenewEnabled,omitempty"`
	Price   Money                `json:"recurringPrice"`
	Change  *priceChangeResource `json:"priceChangeDetails,omitempty"`
	Details *installments        `json:"installmentDetails,omitempty"`
}

type prepaid struct {
	ExtendAfter string `json:"allowExtendAfterTime,omitempty"`
}

type offerDetails struct {
	Plan  string `json:"basePlanId"`
	Offer string `json:"offerId,omitempty"`
}

type deferred struct {
	Product string `json:"productId"`
}

// stamp is a time in RFC 3339 with three digits of a second, "" for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func newAccounts(account, profile string) *accounts {
	if account == "" && profile == "" {
		return nil
	}
	return &accounts{account, profile}
}

// render writes a subscription as the API returns it. Chosen: the etag is a digest of the
// rest, so it changes with whatever the caller can see.
func (p *Play) render(s *subscription, now time.Time) resource {
	r := resource{
		Kind: "androidpublisher#subscriptionPurchaseV2", Region: s.purchase.Region, Start: stamp(s.started), State: s.state,
		Linked: s.purchase.Linked, Acknowledged: "ACKNOWLEDGEMENT_STATE_PENDING", Accounts: newAccounts(s.account, s.profile),
	}
	if s.acknowledged {
		r.Acknowledged = "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
	} else if s.outOfApp != nil {
		// Gone after the acknowledgement (Reference, OutOfAppPurchaseContext).
		r.OutOfApp = &outOfApp{newAccounts(s.outOfApp.account, s.outOfApp.profile), s.outOfApp.token}
	}
	if s.purchase.Test {
		r.Test = &empty{}
	}
	s.renderState(&r)
	for _, it := range s.all() {
		r.Items = append(r.Items, p.renderItem(s, it, now))
	}
	text, _ := json.Marshal(r)
	digest := sha256.Sum256(text)
	r.ETag = base64.RawURLEncoding.EncodeToString(digest[:15])
	return r
}

// renderState adds the context of the state; each is there in its state only (Reference).
func (s *subscription) renderState(r *resource) {
	unpaid := &declined{}
	unpaid.Renewal.Order = s.unpaid
	switch s.state {
	case paused:
		r.Paused = &pausedContext{stamp(s.resumes)}
	case inGrace:
		r.InGracePeriod = unpaid
	case onHold:
		r.OnHold = unpaid
	case canceled, expired:
		switch s.canceledBy {
		case byUser:
			r.Canceled = map[string]any{"userInitiatedCancellation": map[string]string{"cancelTime": stamp(s.canceledAt)}}
		case bySystem, byDeveloper, byReplacement:
			name := map[string]string{bySystem: "systemInitiatedCancellation", byDeveloper: "developerInitiatedCancellation", byReplacement: "replacementCancellation"}
			r.Canceled = map[string]any{name[s.canceledBy]: empty{}}
		}
	}
	if s.prepaid() {
		r.Canceled = nil // never with prepaid plans (Lifecycle, fields for prepaid plans)
	}
}

func (p *Play) renderItem(s *subscription, it *item, now time.Time) itemResource {
	r := itemResource{Product: it.product, Expires: stamp(it.expires), Order: it.order, Offer: offerDetails{it.plan.ID, it.offer}}
	if it.phase != "" {
		r.Phase = map[string]empty{it.phase: {}}
	}
	if it.removing {
		r.Removal = &empty{}
	}
	if it.deferred != "" {
		r.Deferred = &deferred{it.deferred}
	}
	if now.Before(s.bought.AddDate(0, 0, 60)) { // for 60 days only (Reference, ItemReplacement)
		r.Replaced = it.replaced
	}
	if it.plan.Prepaid {
		r.Prepaid = &prepaid{stamp(p.extendAfter(s, it))}
		return r
	}
	r.Renewing = &renewing{Enabled: s.renews && (it == s.items[len(s.items)-1] || slices.Contains(s.staying(), it)), Price: it.plan.Price, Change: it.renderChange(), Details: s.renderInstallments(it)}
	return r
}

// extendAfter is when a prepaid plan may be topped up. One top-up may wait at a time, and an
// expired plan has no such time (Lifecycle, fields for prepaid plans; Reference). Chosen: the
// start of the period that was paid last.
func (p *Play) extendAfter(s *subscription, it *item) time.Time {
	if o := p.orders[it.order]; o != nil && s.state == active {
		return o.from
	}
	return time.Time{}
}
