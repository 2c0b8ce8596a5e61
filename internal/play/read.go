package play

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/play/publisher"
)

// maxTokenLength is the length of the longest purchase token that is sent to Google.
const maxTokenLength = 2048

// Subscription returns what Google says of a purchase token, in one call. Right after a
// purchase its error can be [TokenNotFound] for a moment; callers repeat it.
func (c *Client) Subscription(ctx context.Context, token string) (Subscription, error) {
	if err := checkToken(token); err != nil {
		return Subscription{}, err
	}
	var found publisher.SubscriptionPurchaseV2
	err := c.call(ctx, request{
		method: http.MethodGet, path: "purchases/subscriptionsv2/tokens/" + escape(token), about: aboutToken, secrets: []string{token},
	}, &found)
	if err != nil {
		return Subscription{}, err
	}
	s, err := subscriptionOf(&found)
	if err != nil {
		return Subscription{}, &Error{Reason: Unavailable, Cause: err}
	}
	return s, nil
}

// checkToken refuses what can't be a token, so that it is part of no address.
func checkToken(token string) error {
	for _, r := range token {
		if r <= ' ' || r > '~' || strings.ContainsRune(`/\?#%`, r) {
			return &Error{Reason: InvalidToken, Cause: errors.New("unexpected character in the token")}
		}
	}
	if token == "" || len(token) > maxTokenLength || strings.Trim(token, ".") == "" {
		return &Error{Reason: InvalidToken, Cause: errors.New("empty or too long")}
	}
	return nil
}

// subscriptionOf turns Google's type into ours.
func subscriptionOf(p *publisher.SubscriptionPurchaseV2) (Subscription, error) {
	times := timeReader{}
	s := Subscription{
		State:        State(strings.TrimPrefix(p.SubscriptionState, "SUBSCRIPTION_STATE_")),
		StartedAt:    times.read(p.StartTime),
		Acknowledged: p.AcknowledgementState == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
		LinkedToken:  p.LinkedPurchaseToken, Test: p.TestPurchase != nil, Region: p.RegionCode, ETag: p.Etag,
	}
	if s.State == "" {
		return s, errors.New("the answer has no state")
	}
	if ids := p.ExternalAccountIdentifiers; ids != nil {
		s.Account, s.Profile = ids.ObfuscatedExternalAccountID, ids.ObfuscatedExternalProfileID
	}
	if context := p.OutOfAppPurchaseContext; context != nil {
		s.OutOfApp = &OutOfApp{ExpiredToken: context.ExpiredPurchaseToken}
		if ids := context.ExpiredExternalAccountIdentifiers; ids != nil {
			s.OutOfApp.Account, s.OutOfApp.Profile = ids.ObfuscatedExternalAccountID, ids.ObfuscatedExternalProfileID
		}
	}
	s.addStateContext(p, &times)
	for _, item := range p.LineItems {
		s.Items = append(s.Items, itemOf(item, &times))
	}
	return s, times.err
}

// addStateContext reads what Google adds in some states.
func (s *Subscription) addStateContext(p *publisher.SubscriptionPurchaseV2, times *timeReader) {
	if p.PausedStateContext != nil {
		s.AutoResumeAt = times.read(p.PausedStateContext.AutoResumeTime)
	}
	if grace := p.InGracePeriodStateContext; grace != nil && grace.RenewalDeclined != nil {
		s.PendingOrder = grace.RenewalDeclined.PendingOrderID
	}
	if hold := p.OnHoldStateContext; hold != nil && hold.RenewalDeclined != nil {
		s.PendingOrder = hold.RenewalDeclined.PendingOrderID
	}
	c := p.CanceledStateContext
	switch {
	case c == nil:
	case c.UserInitiatedCancellation != nil:
		s.CanceledBy, s.CanceledAt = "user", times.read(c.UserInitiatedCancellation.CancelTime)
	case c.SystemInitiatedCancellation != nil:
		s.CanceledBy = "system"
	case c.DeveloperInitiatedCancellation != nil:
		s.CanceledBy = "developer"
	case c.ReplacementCancellation != nil:
		s.CanceledBy = "replacement"
	}
}

// itemOf turns Google's type into ours.
func itemOf(l *publisher.SubscriptionPurchaseLineItem, times *timeReader) Item {
	i := Item{
		ProductID: l.ProductID, ExpiresAt: times.read(l.ExpiryTime), OrderID: l.LatestSuccessfulOrderID,
		Prepaid: l.PrepaidPlan != nil, DeferredRemoval: l.DeferredItemRemoval != nil, Phase: phaseOf(l.OfferPhase),
	}
	if l.OfferDetails != nil {
		i.BasePlanID, i.OfferID = l.OfferDetails.BasePlanID, l.OfferDetails.OfferID
	}
	if l.DeferredItemReplacement != nil {
		i.Deferred = l.DeferredItemReplacement.ProductID
	}
	plan := l.AutoRenewingPlan
	if plan == nil {
		return i
	}
	i.AutoRenews, i.Price = plan.AutoRenewEnabled, moneyOf(plan.RecurringPrice)
	if change := plan.PriceChangeDetails; change != nil {
		i.PriceChange = &PriceChange{
			State: strings.ToLower(change.PriceChangeState), Price: moneyOf(change.NewPrice),
			NeedsConsent:  change.PriceChangeMode == "PRICE_INCREASE",
			ExpectedAfter: times.read(change.ExpectedNewPriceChargeTime),
		}
	}
	if consent := plan.PriceStepUpConsentDetails; consent != nil {
		i.StepUp = strings.ToLower(consent.State)
	}
	if d := plan.InstallmentDetails; d != nil {
		i.Installments = &Installments{
			Initial: d.InitialCommittedPaymentsCount, Remaining: d.RemainingCommittedPaymentsCount, Ending: d.PendingCancellation != nil,
		}
	}
	return i
}

// phaseOf names the phase of an offer.
func phaseOf(p *publisher.OfferPhase) string {
	switch {
	case p == nil:
		return ""
	case p.FreeTrial != nil:
		return "free_trial"
	case p.IntroductoryPrice != nil:
		return "introductory"
	case p.ProrationPeriod != nil:
		return "proration"
	case p.BasePrice != nil:
		return "base"
	}
	return ""
}

func moneyOf(m *publisher.Money) *Money {
	if m == nil {
		return nil
	}
	return &Money{Currency: m.CurrencyCode, Units: m.Units, Nanos: m.Nanos}
}

// timeReader reads times and keeps the first error.
type timeReader struct {
	err error
}

func (r *timeReader) read(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		r.err = errors.New("the answer has an invalid time")
	}
	return t
}
