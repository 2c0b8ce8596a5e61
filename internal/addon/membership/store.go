package membership

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
)

// platform is the only platform so far (spec 2.7).
const platform = "store"

// Store is the app's store. Its errors are of type [play.Error]; others count as outages.
type Store interface {
	// Now is the time on the store's clock, by which purchases begin and end there.
	Now(ctx context.Context) (time.Time, error)
	Subscription(ctx context.Context, token string) (play.Subscription, error)
	// OneTime is Subscription for the purchase of a one-time product.
	OneTime(ctx context.Context, token string) (play.Subscription, error)
	// Acknowledge sends the account id only when it is not empty.
	Acknowledge(ctx context.Context, productID, token, account, profile string) error
	// AcknowledgeOneTime accepts the purchase of a one-time product, and Consume has it sold to the buyer again.
	AcknowledgeOneTime(ctx context.Context, productID, token string) error
	Consume(ctx context.Context, productID, token string) error
	// Cancel stops the renewals, or the payments: the user can't undo that.
	Cancel(ctx context.Context, token string, kind play.CancelKind) error
	// Revoke ends the access at once and refunds: the rest of the period, or all of it.
	Revoke(ctx context.Context, token string, refund play.Refund) error
	// Defer moves the next renewal by a time, which the user gets for nothing. The etag is that
	// of the subscription as it was read. It returns the new end.
	Defer(ctx context.Context, token, etag string, by time.Duration) (time.Time, error)
	// RefundOrder refunds an order; with revoke it ends the access that the order paid for.
	RefundOrder(ctx context.Context, orderID string, revoke bool) error
	// ReviewRefund says what the site prefers for the chargeback of an order, and whether a free
	// sample was offered. The token is that of the store's question.
	ReviewRefund(ctx context.Context, orderID, token string, preference play.RefundPreference, sample bool) error
	// Orders returns what was paid for orders. One unknown id fails the call.
	Orders(ctx context.Context, ids []string) ([]play.Order, error)
	// Voided lists refunds and chargebacks that the store saw in a time. next is "" on the last page.
	Voided(ctx context.Context, since, until time.Time, page string) (list []play.Voided, next string, err error)
	// Products lists the subscriptions of the catalogue, and OneTimeProducts what is bought once.
	Products(ctx context.Context) ([]play.Product, error)
	OneTimeProducts(ctx context.Context) ([]play.Product, error)
}

// openForApp opens the store that the settings name, for a token that an app sends, while the site sells in its app;
// otherwise it is an error (iap_disabled). The store is asked about a known purchase as the application in which it was made.
func (s *Service) openForApp(ctx context.Context, token string) (Store, iap.Selling, error) {
	selling, err := s.selling(ctx)
	switch {
	case err != nil:
		return nil, selling, err
	case !selling.Enabled:
		return nil, selling, fault.Forbidden("iap_disabled", "In-app purchases are off")
	case selling.Simulated:
		return s.openSelling(selling)
	}
	return s.openToken(ctx, digestOf(s.box(), token), origin{})
}

const (
	// codeNotConfigured is the code of settings with which no store can be asked.
	codeNotConfigured = "not_configured"
	// codeOtherStore is the code of a purchase of the simulated store after test mode.
	codeOtherStore = "other_store"
)

// origin is where a purchase was made. The settings may name another store now, or another application.
type origin struct {
	Simulated bool `json:"simulated,omitempty"`
	// Application is the Android application ID, "" for that of the settings.
	Application string `json:"application,omitempty"`
}

func originOf(p addondb.Purchase) origin {
	return origin{p.Environment == string(entitle.Simulated), p.Application}
}

// openToken opens the store of a token: where its purchase was made, or while that is not known the origin.
func (s *Service) openToken(ctx context.Context, digest []byte, from origin) (Store, iap.Selling, error) {
	known, err := s.db.PurchaseByToken(ctx, platform, digest)
	if ignoreNotFound(err) != nil {
		return nil, iap.Selling{}, err
	}
	if known.ID != 0 {
		from = originOf(known)
	}
	return s.openOrigin(ctx, from)
}

// openOrigin opens the store in which a purchase was made, with the settings that are for it. Its errors are not_configured,
// and other_store for the simulated store while test mode is off.
func (s *Service) openOrigin(ctx context.Context, from origin) (Store, iap.Selling, error) {
	selling, err := s.selling(ctx)
	switch {
	case err != nil:
		return nil, selling, err
	case from.Simulated && !selling.Simulated:
		return nil, selling, fault.Conflict(codeOtherStore, "This purchase is of the test mode, which is off")
	case !from.Simulated:
		selling.Simulated, selling.Application = false, cmp.Or(from.Application, selling.Application)
	}
	return s.openSelling(selling)
}

// open returns the store and the published settings, also while nothing is sold: the store
// goes on renewing what was bought before. Its error is not_configured.
func (s *Service) open(ctx context.Context) (Store, iap.Selling, error) {
	selling, err := s.selling(ctx)
	if err != nil {
		return nil, selling, err
	}
	return s.openSelling(selling)
}

func (s *Service) openSelling(selling iap.Selling) (Store, iap.Selling, error) {
	if selling.Application == "" || len(selling.Packages) == 0 || selling.ServiceAccount == nil && !selling.Simulated {
		return nil, selling, fault.Unavailable(codeNotConfigured, "In-app purchases are not configured completely")
	}
	store, err := s.openStore(selling)
	if err != nil {
		return nil, selling, fault.WithCause(fault.Unavailable(codeNotConfigured, "The service account of the store can't be used"), err)
	}
	return store, selling, nil
}

// freshWaits are the waits before a token that the store does not know yet, or a call that
// failed, is tried again: a new token may be unknown for some hundreds of milliseconds (1.2).
var freshWaits = []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}

// reader reads a token from the store.
type reader func(ctx context.Context, token string) (play.Subscription, error)

// ask reads a token. It tries again when the token is unknown and when the store does
// not answer, unless that asks to wait.
func (s *Service) ask(ctx context.Context, read reader, token string) (play.Subscription, error) {
	for attempt := 0; ; attempt++ {
		sub, err := read(ctx, token)
		reason, after := reasonOf(err)
		again := reason == play.TokenNotFound || reason == play.Unavailable && after == 0
		if !again || attempt == len(freshWaits) || !s.wait(ctx, freshWaits[attempt]) {
			return sub, err
		}
	}
}

// onceTimeout is short, so that calls that hang end soon after the store answers again.
const onceTimeout = 3 * time.Second

// askOnce is ask without another attempt.
func (s *Service) askOnce(ctx context.Context, read reader, token string) (play.Subscription, error) {
	ctx, cancel := context.WithTimeout(ctx, s.onceTimeout)
	defer cancel()
	return read(ctx, token)
}

// reasonOf returns why a call to the store failed, "" for none.
func reasonOf(err error) (reason play.Reason, after time.Duration) {
	if err == nil {
		return "", 0
	}
	if failed, ok := errors.AsType[*play.Error](err); ok {
		return failed.Reason, failed.RetryAfter
	}
	return play.Unavailable, 0
}

// refusal is the error that a caller gets for one of the store (1.11, 6.4).
func refusal(err error) *countersign.Error {
	reason, after := reasonOf(err)
	switch reason {
	case play.InvalidToken, play.TokenNotFound:
		return fault.WithCause(fault.New(countersign.KindUnprocessable, "invalid_token", "The store does not know this purchase"), err)
	case play.Gone:
		return fault.WithCause(fault.New(countersign.KindGone, "purchase_gone", "This purchase ended too long ago"), err)
	case play.ApplicationNotFound, play.Unauthorized:
		return fault.WithCause(fault.Unavailable("store_not_authorised", "The store refuses the service account"), err)
	}
	return fault.WithCause(fault.WithRetry(fault.Unavailable("store_unavailable", "The store does not answer"), max(after, time.Second)), err)
}

// alertKinds of failed calls.
const (
	alertNotAuthorised = "store_not_authorised"
	alertRefused       = "store_refused"
)

// call is what the store is asked for, in words: a refusal of one ends with its next success.
type call string

// The calls.
const (
	callRead        call = "reading a purchase"
	callAcknowledge call = "acknowledging a purchase"
	callAct         call = "changing a purchase"
	callReview      call = "answering about a chargeback"
	callVoided      call = "listing refunds"
	callOrders      call = "reading orders"
	callProducts    call = "reading the catalogue"
)

// noteCall raises or resolves the alerts about calls to the real store, for each application and each call.
func (s *Service) noteCall(ctx context.Context, of call, selling iap.Selling, failed error) error {
	if selling.Simulated {
		return nil
	}
	app := selling.Application
	switch reason, _ := reasonOf(failed); reason {
	case play.ApplicationNotFound:
		return s.raiseAgain(ctx, alertNotAuthorised, app, "The store does not find the app "+app+": check the Android application ID, and that the service account may see the app")
	case play.Unauthorized:
		return s.raiseAgain(ctx, alertNotAuthorised, app, "The store refuses the service account for the app "+app+": check its permissions. New permissions can take up to 36 hours")
	case play.Refused:
		return s.raiseAgain(ctx, alertRefused, string(of), "The store refused a call: "+string(of))
	case "":
		return errors.Join(s.resolveOnce(ctx, alertNotAuthorised, app), s.resolveOnce(ctx, alertRefused, string(of)))
	}
	return nil
}
