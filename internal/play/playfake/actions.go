package playfake

import (
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/play/publisher"
)

// changeSubscription serves the actions of subscriptionsv2: cancel, revoke, defer.
func (s *Store) changeSubscription(w http.ResponseWriter, r *http.Request) {
	token, name := verb(r.PathValue("token"))
	actions := map[string]func(http.ResponseWriter, *http.Request, *purchase){
		"cancel": s.serveCancel, "revoke": s.serveRevoke, "defer": s.serveDefer,
	}
	serve := actions[name]
	if serve == nil {
		http.NotFound(w, r)
		return
	}
	if p := s.find(w, token, false); p != nil {
		serve(w, r, p)
	}
}

// refuseState answers an action that is not possible in the state of a purchase.
func refuseState(w http.ResponseWriter, err error) {
	refuse(w, http.StatusBadRequest, "failedPrecondition", err.Error())
}

func (s *Store) serveCancel(w http.ResponseWriter, r *http.Request, p *purchase) {
	var request publisher.CancelSubscriptionPurchaseRequest
	if !read(w, r, &request) {
		return
	}
	final := false
	by := "user"
	switch c := request.CancellationContext; {
	case c != nil && c.CancellationType == "USER_REQUESTED_STOP_RENEWALS":
	case c != nil && c.CancellationType == "DEVELOPER_REQUESTED_STOP_PAYMENTS":
		final, by = true, "developer"
	default:
		refuse(w, http.StatusBadRequest, "badRequest", "Unknown cancellation type.")
		return
	}
	if err := s.cancel(p, by, final); err != nil {
		refuseState(w, err)
		return
	}
	p.Revision++
	answer(w, struct{}{})
}

func (s *Store) serveRevoke(w http.ResponseWriter, r *http.Request, p *purchase) {
	var request publisher.RevokeSubscriptionPurchaseRequest
	if !read(w, r, &request) {
		return
	}
	c := request.RevocationContext
	if c == nil || c.FullRefund == nil && c.ProratedRefund == nil && c.ItemBasedRefund == nil {
		refuse(w, http.StatusBadRequest, "badRequest", "A refund type is required.")
		return
	}
	if err := s.revokeByDeveloper(p, c.ProratedRefund != nil); err != nil {
		refuseState(w, err)
		return
	}
	p.Revision++
	answer(w, struct{}{})
}

func (s *Store) serveDefer(w http.ResponseWriter, r *http.Request, p *purchase) {
	var request publisher.DeferSubscriptionPurchaseRequest
	if !read(w, r, &request) {
		return
	}
	c := request.DeferralContext
	if c == nil || c.Etag != p.etag() {
		refuse(w, http.StatusConflict, "concurrentUpdate", "The etag is outdated.")
		return
	}
	by, err := time.ParseDuration(c.DeferDuration)
	if err != nil || by < 24*time.Hour || by > 365*24*time.Hour {
		refuse(w, http.StatusBadRequest, "badRequest", "Invalid duration.")
		return
	}
	if err := p.in(stateActive); err != nil {
		refuseState(w, err)
		return
	}
	p.PaidUntil = p.PaidUntil.Add(by)
	p.setExpiry(p.PaidUntil)
	p.Revision++
	s.notify(p, noteDeferred)
	moved := &publisher.DeferSubscriptionPurchaseResponse{}
	for i := range p.Items {
		moved.ItemExpiryTimeDetails = append(moved.ItemExpiryTimeDetails, &publisher.ItemExpiryTimeDetails{
			ProductID: p.Items[i].ProductID, ExpiryTime: timestamp(p.Items[i].ExpiresAt),
		})
	}
	answer(w, moved)
}
