package entitle

import "github.com/countersign/countersign/internal/addon/events"

// EventsFor returns the events of a change of a membership, none when nothing changed. The first one says what
// happened; that it will not renew may follow.
func EventsFor(before, after Membership) []events.Type {
	if before == after {
		return nil
	}
	first := firstEvent(before, after)
	stops := before.WillRenew && !after.WillRenew && after.Active()
	if !stops {
		return []events.Type{first}
	}
	if first == events.MembershipChanged && sameButRenewal(before, after) {
		return []events.Type{events.MembershipWillNotRenew}
	}
	return []events.Type{first, events.MembershipWillNotRenew}
}

// firstEvent is the event that says what happened.
func firstEvent(before, after Membership) events.Type {
	switch {
	case before.Active() && after.Active():
		return whileActive(before, after)
	case after.Active() && (before.Status == OnHold || before.Status == Paused || before.Unverified):
		return events.MembershipResumed
	case after.Active():
		return events.MembershipActivated
	case after.Status == before.Status && after.Unverified == before.Unverified:
		return events.MembershipChanged
	case after.Status == Revoked:
		return events.MembershipRevoked
	case after.Unverified, before.Active() && (after.Status == OnHold || after.Status == Paused):
		return events.MembershipSuspended
	case after.Status == Expired, before.Active():
		return events.MembershipExpired
	}
	return events.MembershipChanged
}

// whileActive is the event of a change during which access continued.
func whileActive(before, after Membership) events.Type {
	switch {
	case before.Package != after.Package:
		return events.MembershipChanged
	case before.Status != Grace && after.Status == Grace:
		return events.MembershipGraceStarted
	case after.Status == Grace: // the store moves the end while it retries the payment
		return events.MembershipChanged
	case before.Source == after.Source && later(after.Until, before.Until) > 0:
		return events.MembershipRenewed
	case before.Status == Grace:
		return events.MembershipResumed
	}
	return events.MembershipChanged
}

// sameButRenewal reports whether only the renewal differs.
func sameButRenewal(before, after Membership) bool {
	before.WillRenew = after.WillRenew
	return before == after
}
