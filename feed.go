package countersign

import (
	"encoding/json"
	"fmt"
)

// IAPFeed is a part of the feed of events.
type IAPFeed struct {
	Events []IAPFeedEvent `json:"events"`
	// Cursor is where to go on: the place of the last event.
	Cursor int64 `json:"cursor"`
	// Missed reports that events after the given place were deleted before they were read. The
	// reader has to read all memberships again.
	Missed bool `json:"missed"`
}

// IAPFeedEvent is an event of the feed.
type IAPFeedEvent struct {
	// Seq is its place, which increases from event to event.
	Seq int64 `json:"seq"`
	// Event is the event, byte for byte as webhooks get it.
	Event json.RawMessage `json:"event"`
}

// Decode reads the event.
func (e IAPFeedEvent) Decode() (IAPEvent, error) {
	var event IAPEvent
	if err := json.Unmarshal(e.Event, &event); err != nil {
		return IAPEvent{}, fmt.Errorf("countersign: event %d: %w", e.Seq, err)
	}
	return event, nil
}

// IAPEvent is something that happened to a membership or a purchase: an event of the feed, and the body of a webhook.
type IAPEvent struct {
	ID string `json:"id"`
	// Type is for logs and e-mails, such as "membership.renewed". Store Membership whatever it is.
	Type      string    `json:"type"`
	CreatedAt Timestamp `json:"created_at"`
	// UserID is the site's id of the user, "" for an event without one.
	UserID string `json:"user_id"`
	// Membership is what the user has after the event, and Previous before it. Store it if its Version is higher than
	// that of the stored one. Both can be nil, and so can Purchase.
	Membership *IAPMembership `json:"membership"`
	Previous   *IAPMembership `json:"previous"`
	Purchase   *IAPPurchase   `json:"purchase"`
	// Environment is "production", "test" or "simulated".
	Environment string `json:"environment"`
}
