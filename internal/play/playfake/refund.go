package playfake

import (
	"errors"
	"net/http"
	"slices"

	"github.com/countersign/countersign/internal/play/publisher"
)

// Orders returns the ids of the orders of a purchase, oldest first.
func (s *Store) Orders(token string) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.state.Orders {
		if o.Token == token {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// Refund refunds an order, as the developer does. With revoke the subscription ends now, and
// the order is listed as voided; without, nothing else shows it.
func (s *Store) Refund(orderID string, revoke bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refund(orderID, revoke)
}

func (s *Store) refund(orderID string, revoke bool) error {
	o := s.order(orderID)
	if o == nil {
		return errors.New("unknown order")
	}
	if o.State != "PROCESSED" {
		return errors.New("the order can't be refunded")
	}
	if !revoke {
		o.State, o.RefundedAt = "REFUNDED", s.state.Now
		return nil
	}
	s.voidOrder(o, 0, 1, false)
	s.revokeOwner(o, "developer")
	return nil
}

// revokeOwner ends the purchase of an order.
func (s *Store) revokeOwner(o *order, by string) {
	if p := s.purchase(o.Token); p != nil && p.live() {
		s.revoke(p, by)
		p.Revision++
	}
}

// ChargeBack takes an order back by the buyer's bank. The subscription ends when it is the
// order of the current period.
func (s *Store) ChargeBack(orderID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.order(orderID)
	if o == nil || o.State != "PROCESSED" {
		return errors.New("unknown order, or not paid")
	}
	s.voidOrder(o, 7, 2, true)
	if p := s.purchase(o.Token); p != nil && p.Items[0].OrderID == o.ID {
		s.revokeOwner(o, "system")
	}
	return nil
}

// ReviewChargeback asks the developer about a chargeback, and returns the token for the answer.
func (s *Store) ReviewChargeback(orderID string) (reviewToken string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.order(orderID)
	if o == nil || o.State != "PROCESSED" {
		return "", errors.New("unknown order, or not paid")
	}
	token := s.id(20)
	if s.script.reviews == nil {
		s.script.reviews, s.script.answers = map[string]string{}, map[string]string{}
	}
	s.script.reviews[token] = o.ID
	s.notifyReview(o, token)
	return token, nil
}

// ReviewAnswer returns what the developer prefers for the chargeback of an order, "" for no
// answer yet.
func (s *Store) ReviewAnswer(orderID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.script.answers[orderID]
}

// reviewRefund takes the developer's answer. Only the first one counts; later ones are accepted
// and ignored, as Google describes it.
func (s *Store) reviewRefund(w http.ResponseWriter, r *http.Request, orderID string) {
	var request publisher.OrdersReviewRefundRequest
	if !read(w, r, &request) {
		return
	}
	known := s.script.reviews[request.PendingRefundToken] == orderID
	valid := slices.Contains([]string{"APPROVE", "DECLINE", "NEUTRAL"}, request.RefundPreference)
	if !known || !valid {
		refuseState(w, errors.New("no chargeback of this order waits for an answer, or the answer is not valid"))
		return
	}
	if s.script.answers[orderID] == "" {
		s.script.answers[orderID] = request.RefundPreference
	}
	answer(w, struct{}{})
}
