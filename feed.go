package countersign

import "encoding/json"

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
