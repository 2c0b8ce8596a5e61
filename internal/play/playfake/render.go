package playfake

import (
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/play/publisher"
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
func (s *Store) render(p *purchase) *publisher.SubscriptionPurchaseV2 {
	v := &publisher.SubscriptionPurchaseV2{
		Kind: "androidpublisher#subscriptionPurchaseV2", SubscriptionState: p.State, RegionCode: p.Region,
		StartTime: timestamp(p.StartedAt), LinkedPurchaseToken: p.Linked, Etag: p.etag(),
		AcknowledgementState: "ACKNOWLEDGEMENT_STATE_PENDING",
	}
	if p.Acknowledged {
		v.AcknowledgementState = "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
	}
	if p.Account != "" || p.Profile != "" {
		v.ExternalAccountIdentifiers = &publisher.ExternalAccountIdentifiers{ObfuscatedExternalAccountID: p.Account, ObfuscatedExternalProfileID: p.Profile}
	}
	if p.Test {
		v.TestPurchase = &publisher.Empty{}
	}
	if old := p.OutOfApp; old != nil {
		v.OutOfAppPurchaseContext = &publisher.OutOfAppPurchaseContext{ExpiredPurchaseToken: old.Token}
		if old.Account != "" || old.Profile != "" {
			v.OutOfAppPurchaseContext.ExpiredExternalAccountIdentifiers = &publisher.ExternalAccountIdentifiers{
				ObfuscatedExternalAccountID: old.Account, ObfuscatedExternalProfileID: old.Profile,
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
func (p *purchase) renderState(v *publisher.SubscriptionPurchaseV2) {
	declined := &publisher.RenewalDeclinedContext{PendingOrderID: p.PendingOrder}
	switch p.State {
	case statePaused:
		v.PausedStateContext = &publisher.PausedStateContext{AutoResumeTime: timestamp(p.ResumeAt)}
	case stateGrace:
		v.InGracePeriodStateContext = &publisher.InGracePeriodStateContext{RenewalDeclined: declined}
	case stateHold:
		v.OnHoldStateContext = &publisher.OnHoldStateContext{RenewalDeclined: declined}
	case stateCanceled, stateExpired:
		v.CanceledStateContext = p.renderCancellation()
	}
}

func (p *purchase) renderCancellation() *publisher.CanceledStateContext {
	switch p.CanceledBy {
	case "user":
		return &publisher.CanceledStateContext{UserInitiatedCancellation: &publisher.UserInitiatedCancellation{CancelTime: timestamp(p.CanceledAt)}}
	case "system":
		return &publisher.CanceledStateContext{SystemInitiatedCancellation: &publisher.Empty{}}
	case "developer":
		return &publisher.CanceledStateContext{DeveloperInitiatedCancellation: &publisher.Empty{}}
	case "replacement":
		return &publisher.CanceledStateContext{ReplacementCancellation: &publisher.Empty{}}
	}
	return nil
}

func (s *Store) renderItem(p *purchase, i *item) *publisher.SubscriptionPurchaseLineItem {
	l := &publisher.SubscriptionPurchaseLineItem{
		ProductID: i.ProductID, ExpiryTime: timestamp(i.ExpiresAt), LatestSuccessfulOrderID: i.OrderID,
		OfferDetails: &publisher.OfferDetails{BasePlanID: i.PlanID, OfferID: i.OfferID},
		OfferPhase:   s.renderPhase(i),
	}
	if i.Deferred != "" {
		l.DeferredItemReplacement = &publisher.DeferredItemReplacement{ProductID: i.Deferred}
	}
	if i.DeferredRemoval {
		l.DeferredItemRemoval = &publisher.Empty{}
	}
	if i.Prepaid {
		l.PrepaidPlan = &publisher.PrepaidPlan{AllowExtendAfterTime: timestamp(p.StartedAt)}
		return l
	}
	plan := &publisher.AutoRenewingPlan{AutoRenewEnabled: (p.renews() || p.Unnoticed && p.mayRenew()) && i.Deferred == "" && !i.DeferredRemoval, RecurringPrice: i.Price.google()}
	if c := i.Change; c != nil && c.Mode == PriceStepUp {
		plan.PriceStepUpConsentDetails = &publisher.PriceStepUpConsentDetails{State: consentStates[c.State]}
	} else if c != nil {
		plan.PriceChangeDetails = &publisher.SubscriptionItemPriceChangeDetails{
			PriceChangeMode: c.Mode, PriceChangeState: c.State, NewPrice: c.Price.google(), ExpectedNewPriceChargeTime: timestamp(c.At),
		}
	}
	if i.Payments > 0 {
		plan.InstallmentDetails = &publisher.InstallmentPlan{InitialCommittedPaymentsCount: i.Payments, RemainingCommittedPaymentsCount: i.Left}
		if i.Ending {
			plan.InstallmentDetails.PendingCancellation = &publisher.Empty{}
		}
	}
	l.AutoRenewingPlan = plan
	return l
}

// consentStates are the names of a consent, by those of a change of price.
var consentStates = map[string]string{"OUTSTANDING": "PENDING", "CONFIRMED": "CONFIRMED", "APPLIED": "COMPLETED"}

func (s *Store) renderPhase(i *item) *publisher.OfferPhase {
	phase := s.phaseOf(i)
	switch {
	case i.Proration:
		return &publisher.OfferPhase{ProrationPeriod: &publisher.Empty{}}
	case phase == nil:
		return &publisher.OfferPhase{BasePrice: &publisher.Empty{}}
	case phase.Kind == FreeTrial:
		return &publisher.OfferPhase{FreeTrial: &publisher.Empty{}}
	}
	return &publisher.OfferPhase{IntroductoryPrice: &publisher.Empty{}}
}

// google returns an amount in Google's type.
func (m Money) google() *publisher.Money {
	return &publisher.Money{CurrencyCode: m.Currency, Units: m.Units, Nanos: m.Nanos}
}
