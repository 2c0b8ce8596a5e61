package playfake

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// Codes of notifications about subscriptions.
const (
	noteRecovered       = 1
	noteRenewed         = 2
	noteCanceled        = 3
	notePurchased       = 4
	noteHold            = 5
	noteGrace           = 6
	noteRestarted       = 7
	notePriceConfirmed  = 8
	noteDeferred        = 9
	notePaused          = 10
	notePauseChanged    = 11
	noteRevoked         = 12
	noteExpired         = 13
	noteItemsChanged    = 17
	noteCancelScheduled = 18
	notePriceChange     = 19
	notePendingCanceled = 20
	noteStepUp          = 22
)

// Codes of notifications about products that are bought once.
const (
	noteOncePurchased = 1
	noteOnceCanceled  = 2
)

// Message is a notification in the queue.
type Message struct {
	ID          string
	PublishedAt time.Time
	// Data is the notification as Google writes it.
	Data json.RawMessage
	// Acknowledged is set by the acknowledgement of a pull, or by [Store.Push].
	Acknowledged bool
	// Code is the kind of a notification about a subscription, 0 for others. Token is the
	// purchase token, "" for none.
	Code  int
	Token string
}

// notify adds a notification about a subscription.
func (s *Store) notify(p *purchase, code int) {
	s.publish(Message{Code: code, Token: p.Token}, map[string]any{
		"subscriptionNotification": map[string]any{"version": "1.0", "notificationType": code, "purchaseToken": p.Token},
	})
}

// notifyOnce adds a notification about a product that is bought once.
func (s *Store) notifyOnce(p *purchase, code int) {
	s.publish(Message{Token: p.Token}, map[string]any{
		"oneTimeProductNotification": map[string]any{"version": "1.0", "notificationType": code, "purchaseToken": p.Token, "sku": p.Items[0].ProductID},
	})
}

// Types of refunds in notifications.
const (
	refundOfAll      = 1
	refundOfQuantity = 2
)

// notifyVoided adds a notification about an order that was taken back.
func (s *Store) notifyVoided(o *order, refundType int) {
	productType := 1
	if p := s.purchase(o.Token); p != nil && p.once() {
		productType = 2
	}
	s.publish(Message{Token: o.Token}, map[string]any{
		"voidedPurchaseNotification": map[string]any{"purchaseToken": o.Token, "orderId": o.ID, "productType": productType, "refundType": refundType},
	})
}

// notifyReview adds a notification about a chargeback that waits for the developer.
func (s *Store) notifyReview(o *order, reviewToken string) {
	body := map[string]any{"version": "1.0", "pendingRefundToken": reviewToken, "orderId": o.ID, "refundReason": 7}
	if p := s.purchase(o.Token); p != nil && p.Account != "" {
		body["obfuscatedAccountId"] = p.Account
	}
	s.publish(Message{}, map[string]any{"pendingRefundReviewNotification": body})
}

// SendTest adds the notification that the console sends as a test.
func (s *Store) SendTest() Message {
	return s.Send(map[string]any{"testNotification": map[string]any{"version": "1.0"}})
}

// Send adds a notification with members of the caller's choice, for what no act produces: one-time
// products, codes that are not known yet.
func (s *Store) Send(members map[string]any) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.publish(Message{}, members)
}

// publish adds a message to the queue.
func (s *Store) publish(m Message, members map[string]any) Message {
	body := map[string]any{
		"version": "1.0", "packageName": s.state.Package,
		"eventTimeMillis": strconv.FormatInt(s.state.Now.UnixMilli(), 10),
	}
	for name, value := range members {
		body[name] = value
	}
	data, err := json.Marshal(body)
	if err != nil {
		panic("playfake: " + err.Error()) // only plain values come here
	}
	s.state.LastMessage++
	m.ID, m.PublishedAt, m.Data = strconv.FormatInt(10_000_000_000+s.state.LastMessage, 10), s.state.Now, data
	s.state.Messages = append(s.state.Messages, m)
	if extra := len(s.state.Messages) - maxMessages; extra > 0 {
		s.state.Messages = slices.Delete(s.state.Messages, 0, extra)
	}
	return m
}

// Messages returns the notifications, oldest first. A store keeps the last thousand.
func (s *Store) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.Messages)
}

// Take returns the notifications, oldest first, and removes them from the queue.
func (s *Store) Take() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.state.Messages
	s.state.Messages = nil
	return list
}

// Body is a message in the form of a push, without the proof of who sent it.
func (m Message) Body() ([]byte, error) {
	return json.Marshal(map[string]any{"message": wireMessage(m), "subscription": "projects/simulated/subscriptions/play"})
}
