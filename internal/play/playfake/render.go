package playfake

import (
	"strconv"
	"time"

	androidpublisher "google.golang.org/api/androidpublisher/v3"
)

// timestamp writes a time as Google does, "" for none.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// etag names a revision of a purchase.
func (p *purchase) etag() string { return p.Token[:8] + "-" + strconv.FormatInt(p.Revision, 10) }

// render returns a purchase as Google writes it.
func (s *Store) render(p *purchase) *androidpublisher.SubscriptionPurchaseV2 {
	v := &androidpublisher.SubscriptionPurchaseV2{
		Kind: "androidpublisher#subscriptionPurchaseV2", SubscriptionState: p.State, RegionCode: p.Region,
		StartTime: timestamp(p.StartedAt), LinkedPurchaseToken: p.Linked, Etag: p.etag(),
		AcknowledgementState: "ACKNOWLEDGEMENT_STATE_PENDING",
	}
	if p.Acknowledged {
		v.AcknowledgementState = "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
	}
	if p.Account != "" || p.Profile != "" {
		v.ExternalAccountIdentifiers = &androidpublisher.ExternalAccountIdentifiers{ObfuscatedExternalAccountId: p.Account, ObfuscatedExternalProfileId: p.Profile}
	}
	if p.Test {
		v.TestPurchase = &androidpublisher.TestPurchase{}
	}
	if old := p.OutOfApp; old != nil {
		v.OutOfAppPurchaseContext = &androidpublisher.OutOfAppPurchaseContext{ExpiredPurchaseToken: old.Token}
		if old.Account != "" || old.Profile != "" {
			v.OutOfAppPurchaseContext.ExpiredExternalAccountIdentifiers = &androidpublisher.ExternalAccountIdentifiers{
				ObfuscatedExternalAccountId: old.Account, ObfuscatedExternalProfileId: old.Profile,
			}
		}
	}
	p.renderState(v)
	for i := range p.Items {
		v.LineItems = append(v.LineItems, s.renderItem(p, &p.Items[i]))
	}
	return v
}

// renderState adds what Google adds in some states.
func (p *purchase) renderState(v *androidpublisher.SubscriptionPurchaseV2) {
	declined := &androidpublisher.RenewalDeclinedContext{PendingOrderId: p.PendingOrder}
	switch p.State {
	case statePaused:
		v.PausedStateContext = &androidpublisher.PausedStateContext{AutoResumeTime: timestamp(p.ResumeAt)}
	case stateGrace:
		v.InGracePeriodStateContext = &androidpublisher.InGracePeriodStateContext{RenewalDeclined: declined}
	case stateHold:
		v.OnHoldStateContext = &androidpublisher.OnHoldStateContext{RenewalDeclined: declined}
	case stateCanceled, stateExpired:
		v.CanceledStateContext = p.renderCancellation()
	}
}

func (p *purchase) renderCancellation() *androidpublisher.CanceledStateContext {
	switch p.CanceledBy {
	case "user":
		return &androidpublisher.CanceledStateContext{UserInitiatedCancellation: &androidpublisher.UserInitiatedCancellation{CancelTime: timestamp(p.CanceledAt)}}
	case "system":
		return &androidpublisher.CanceledStateContext{SystemInitiatedCancellation: &androidpublisher.SystemInitiatedCancellation{}}
	case "developer":
		return &androidpublisher.CanceledStateContext{DeveloperInitiatedCancellation: &androidpublisher.DeveloperInitiatedCancellation{}}
	case "replacement":
		return &androidpublisher.CanceledStateContext{ReplacementCancellation: &androidpublisher.ReplacementCancellation{}}
	}
	return nil
}

func (s *Store) renderItem(p *purchase, i *item) *androidpublisher.SubscriptionPurchaseLineItem {
	l := &androidpublisher.SubscriptionPurchaseLineItem{
		ProductId: i.ProductID, ExpiryTime: timestamp(i.ExpiresAt), LatestSuccessfulOrderId: i.OrderID,
		OfferDetails: &androidpublisher.OfferDetails{BasePlanId: i.PlanID, OfferId: i.OfferID},
		OfferPhase:   s.renderPhase(i),
	}
	if i.Deferred != "" {
		l.DeferredItemReplacement = &androidpublisher.DeferredItemReplacement{ProductId: i.Deferred}
	}
	if i.DeferredRemoval {
		l.DeferredItemRemoval = &androidpublisher.DeferredItemRemoval{}
	}
	if i.Prepaid {
		l.PrepaidPlan = &androidpublisher.PrepaidPlan{AllowExtendAfterTime: timestamp(p.StartedAt)}
		return l
	}
	plan := &androidpublisher.AutoRenewingPlan{AutoRenewEnabled: (p.renews() || p.Unnoticed && p.mayRenew()) && i.Deferred == "" && !i.DeferredRemoval, RecurringPrice: i.Price.google()}
	if c := i.Change; c != nil {
		plan.PriceChangeDetails = &androidpublisher.SubscriptionItemPriceChangeDetails{
			PriceChangeMode: c.Mode, PriceChangeState: c.State, NewPrice: c.Price.google(), ExpectedNewPriceChargeTime: timestamp(c.At),
		}
	}
	if i.Payments > 0 {
		plan.InstallmentDetails = &androidpublisher.InstallmentPlan{InitialCommittedPaymentsCount: i.Payments, RemainingCommittedPaymentsCount: i.Left}
		if i.Ending {
			plan.InstallmentDetails.PendingCancellation = &androidpublisher.PendingCancellation{}
		}
	}
	l.AutoRenewingPlan = plan
	return l
}

func (s *Store) renderPhase(i *item) *androidpublisher.OfferPhase {
	phase := s.phaseOf(i)
	switch {
	case i.Proration:
		return &androidpublisher.OfferPhase{ProrationPeriod: &androidpublisher.ProrationPeriodOfferPhase{}}
	case phase == nil:
		return &androidpublisher.OfferPhase{BasePrice: &androidpublisher.BasePriceOfferPhase{}}
	case phase.Kind == FreeTrial:
		return &androidpublisher.OfferPhase{FreeTrial: &androidpublisher.FreeTrialOfferPhase{}}
	}
	return &androidpublisher.OfferPhase{IntroductoryPrice: &androidpublisher.IntroductoryPriceOfferPhase{}}
}

// google returns an amount in Google's type.
func (m Money) google() *androidpublisher.Money {
	return &androidpublisher.Money{CurrencyCode: m.Currency, Units: m.Units, Nanos: m.Nanos}
}
