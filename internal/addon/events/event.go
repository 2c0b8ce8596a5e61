package events

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
)

// Type names what happened.
type Type string

// The types of events.
const (
	MembershipActivated    Type = "membership.activated"
	MembershipRenewed      Type = "membership.renewed"
	MembershipChanged      Type = "membership.changed"
	MembershipGraceStarted Type = "membership.grace_started"
	MembershipSuspended    Type = "membership.suspended"
	MembershipResumed      Type = "membership.resumed"
	MembershipWillNotRenew Type = "membership.will_not_renew"
	MembershipExpired      Type = "membership.expired"
	MembershipRevoked      Type = "membership.revoked"
	MembershipTransferred  Type = "membership.transferred"
	MembershipPaidTwice    Type = "membership.paid_twice"
	PurchaseRefunded       Type = "purchase.refunded"
	PurchaseChargeback     Type = "purchase.chargeback_review"
	PurchaseTheftSuspected Type = "purchase.theft_suspected"
	PurchaseOwnerUnknown   Type = "purchase.owner_unknown"
	TestPing               Type = "test.ping"
)

var types = []Type{
	MembershipActivated, MembershipRenewed, MembershipChanged, MembershipGraceStarted, MembershipSuspended, MembershipResumed,
	MembershipWillNotRenew, MembershipExpired, MembershipRevoked, MembershipTransferred, MembershipPaidTwice,
	PurchaseRefunded, PurchaseChargeback, PurchaseTheftSuspected, PurchaseOwnerUnknown, TestPing,
}

// Types lists all types of events.
func Types() []Type { return slices.Clone(types) }

// Event is something that happened to a membership or a purchase.
type Event struct {
	Type Type
	// UserID is the site's id of the user, "" for an event without one.
	UserID string
	// Membership after the event, Previous before it, and Purchase are JSON objects; nil is
	// printed as null.
	Membership, Previous, Purchase json.RawMessage
	// Environment is production, test or simulated.
	Environment string
}

// payload is an event as receivers get it. Membership has a version, so that a receiver can
// ignore an event that arrives after a later one.
type payload struct {
	ID          string                `json:"id"`
	Type        Type                  `json:"type"`
	CreatedAt   countersign.Timestamp `json:"created_at"`
	UserID      string                `json:"user_id"`
	Membership  json.RawMessage       `json:"membership"`
	Previous    json.RawMessage       `json:"previous"`
	Purchase    json.RawMessage       `json:"purchase"`
	Environment string                `json:"environment"`
}

// Append adds an event to the end of the feed, in the transaction of its cause, and has it
// delivered to all webhooks that want its type. It returns the event's id. Call it last: others
// who append wait from here until the transaction ends, so it must not wait for their locks.
func (s *Service) Append(ctx context.Context, tx *addondb.DB, e Event) (id string, err error) {
	webhooks, err := tx.Webhooks(ctx) // before others have to wait
	if err != nil {
		return "", err
	}
	id, seq, err := s.append(ctx, tx, e)
	if err != nil {
		return "", err
	}
	for _, w := range webhooks {
		if !wants(w, e.Type) {
			continue
		}
		if err := s.send(ctx, tx, seq, w); err != nil {
			return "", err
		}
	}
	return id, nil
}

func (s *Service) append(ctx context.Context, tx *addondb.DB, e Event) (id string, seq int64, err error) {
	if !slices.Contains(types, e.Type) {
		return "", 0, fmt.Errorf("events: unknown type %q", e.Type)
	}
	id = "evt_" + uuid.NewString() // not its place: that is used again after a backup is restored
	body, err := countersign.EncodeJSON(payload{
		ID: id, Type: e.Type, CreatedAt: countersign.At(s.access.Now()), UserID: e.UserID,
		Membership: e.Membership, Previous: e.Previous, Purchase: e.Purchase, Environment: e.Environment,
	})
	if err != nil {
		return "", 0, fmt.Errorf("events: %w", err)
	}
	seq, err = tx.AddEvent(ctx, addondb.Event{EventID: id, Type: string(e.Type), CreatedAt: s.access.Timestamp(), Body: string(body), UserID: e.UserID})
	return id, seq, err
}

// send has an event delivered to a webhook. One that is paused gets it when it is resumed.
func (s *Service) send(ctx context.Context, tx *addondb.DB, seq int64, w addondb.Webhook) error {
	now := s.access.Timestamp()
	if w.PausedFor != "" {
		return tx.PutDelivery(ctx, addondb.Delivery{Event: seq, Webhook: w.ID, State: string(Held), CreatedAt: now})
	}
	if err := tx.PutDelivery(ctx, addondb.Delivery{Event: seq, Webhook: w.ID, State: string(Pending), NextAt: now, CreatedAt: now}); err != nil {
		return err
	}
	return s.enqueue(ctx, tx.Queries, seq, w.ID)
}

func wants(w addondb.Webhook, t Type) bool {
	return len(w.Types.V) == 0 || slices.Contains(w.Types.V, string(t))
}

// Item is an event of the feed.
type Item struct {
	// Seq is its place, which increases from event to event.
	Seq       int64
	ID        string
	Type      Type
	CreatedAt countersign.Timestamp
	// Body is the event as JSON, byte for byte as webhooks get it.
	Body json.RawMessage
}

func itemOf(e addondb.Event) Item {
	return Item{Seq: e.Seq, ID: e.EventID, Type: Type(e.Type), CreatedAt: countersign.At(e.CreatedAt.Time), Body: json.RawMessage(e.Body)}
}
