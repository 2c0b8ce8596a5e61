package entitle

// EventType names an event for the site (6.5).
type EventType string

// The events.
const (
	Activated        EventType = "membership.activated"
	Renewed          EventType = "membership.renewed"
	Changed          EventType = "membership.changed"
	GraceStarted     EventType = "membership.grace_started"
	Suspended        EventType = "membership.suspended"
	Resumed          EventType = "membership.resumed"
	WillNotRenew     EventType = "membership.will_not_renew"
	Ended            EventType = "membership.expired"
	WasRevoked       EventType = "membership.revoked"
	Transferred      EventType = "membership.transferred"
	PaidTwice        EventType = "membership.paid_twice"
	Refunded         EventType = "purchase.refunded"
	ChargebackReview EventType = "purchase.chargeback_review"
	TheftSuspected   EventType = "purchase.theft_suspected"
	OwnerUnknown     EventType = "purchase.owner_unknown"
)

// EventsFor returns the events of a change of a membership, none when nothing changed. The first one says what
// happened; that it will not renew may follow.
func EventsFor(before, after Membership) []EventType {
	if before == after {
		return nil
	}
	first := firstEvent(before, after)
	stops := before.WillRenew && !after.WillRenew && after.Active()
	if !stops {
		return []EventType{first}
	}
	if first == Changed && sameButRenewal(before, after) {
		return []EventType{WillNotRenew}
	}
	return []EventType{first, WillNotRenew}
}

// firstEvent is the event that says what happened.
func firstEvent(before, after Membership) EventType {
	switch {
	case before.Active() && after.Active():
		return whileActive(before, after)
	case after.Active() && (before.Status == OnHold || before.Status == Paused || before.Unverified):
		return Resumed
	case after.Active():
		return Activated
	case after.Status == before.Status && after.Unverified == before.Unverified:
		return Changed
	case after.Status == Revoked:
		return WasRevoked
	case after.Unverified, before.Active() && (after.Status == OnHold || after.Status == Paused):
		return Suspended
	case after.Status == Expired, before.Active():
		return Ended
	}
	return Changed
}

// whileActive is the event of a change during which access continued.
func whileActive(before, after Membership) EventType {
	switch {
	case before.Package != after.Package:
		return Changed
	case before.Status != Grace && after.Status == Grace:
		return GraceStarted
	case after.Status == Grace: // the store moves the end while it retries the payment
		return Changed
	case before.Source == after.Source && later(after.Until, before.Until) > 0:
		return Renewed
	case before.Status == Grace:
		return Resumed
	}
	return Changed
}

// sameButRenewal reports whether only the renewal differs.
func sameButRenewal(before, after Membership) bool {
	before.WillRenew = after.WillRenew
	return before == after
}
