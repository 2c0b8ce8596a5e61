package entitle

import (
	"cmp"
	"slices"
	"time"
)

// SourceKind is what a membership comes from.
type SourceKind string

// The kinds of sources.
const (
	FromStore SourceKind = "store"
	FromGrant SourceKind = "grant"
)

// Source is something that a membership may come from: an item of a purchase, or a manual grant.
type Source struct {
	Kind SourceKind
	// ID is the row's id within the kind.
	ID     int64
	Status Status
	// Access reports whether the source counts now.
	Access bool
	// Package is the membership package with its rank: a higher rank includes more.
	Package, Rank int64
	Product       string
	Environment   Environment
	Since         time.Time
	Until         time.Time // zero: no end
	WillRenew     bool
	Action        Action
	// Unverified reports that access ended because the store did not answer for too long.
	Unverified bool
}

// Membership is what a user has: the best of all sources. The zero Membership stands for a user without one.
type Membership struct {
	Status  Status
	Package int64
	// Product and Purchase are what the user manages at the store: the source, or what is paid beside a grant. Action is
	// about them.
	Product     string
	Purchase    int64
	Source      SourceKind
	SourceID    int64
	Environment Environment
	Since       time.Time
	Until       time.Time // zero: no end
	WillRenew   bool
	Action      Action
	Unverified  bool
}

// Active reports whether the membership has access.
func (m Membership) Active() bool { return m.Status == Active || m.Status == Grace }

// withoutAccess orders the statuses without access by what a user wants to hear first: what can be repaired, what is
// on its way, and then what has ended.
var withoutAccess = []Status{OnHold, Paused, Pending, Revoked, Expired}

// Derive returns the membership of some sources (6.5): the highest rank among those with access, ties by the latest
// end. Without access it is the source that can be repaired, or the one that ended last.
func Derive(sources []Source) Membership {
	best := Membership{Status: None}
	var chosen *Source
	for i := range sources {
		s := &sources[i]
		if !s.Access && !slices.Contains(withoutAccess, s.Status) {
			continue
		}
		if chosen == nil || better(*s, *chosen) {
			chosen = s
		}
	}
	if chosen == nil {
		return best
	}
	best = Membership{
		Status: chosen.Status, Package: chosen.Package, Source: chosen.Kind, SourceID: chosen.ID, Environment: chosen.Environment,
		Since: chosen.Since, Until: chosen.Until, WillRenew: chosen.WillRenew, Unverified: chosen.Unverified,
	}
	if paid := managed(sources, chosen); paid != nil {
		best.Product, best.Purchase, best.Action = paid.Product, paid.ID, paid.Action
	}
	if best.Status == Expired || best.Status == Revoked { // nothing follows what the store said before the end
		best.WillRenew, best.Action = false, ""
	}
	return best
}

// managed returns what a user manages at the store, nil for nothing: what the membership comes from, or the best that is
// not over beside a grant.
func managed(sources []Source, chosen *Source) (paid *Source) {
	if chosen.Kind == FromStore {
		return chosen
	}
	for i := range sources {
		s := &sources[i]
		goesOn := s.Access || s.Status == OnHold || s.Status == Paused || s.Status == Pending
		if s.Kind == FromStore && goesOn && (paid == nil || better(*s, *paid)) {
			paid = s
		}
	}
	return paid
}

// better reports whether source a comes before b.
func better(a, b Source) bool {
	if a.Access != b.Access {
		return a.Access
	}
	order := -later(a.Until, b.Until)
	if a.Access {
		order = cmp.Or(cmp.Compare(b.Rank, a.Rank), order)
	} else {
		order = cmp.Or(cmp.Compare(urgency(a.Status), urgency(b.Status)), order, cmp.Compare(b.Rank, a.Rank))
	}
	return cmp.Or(order, cmp.Compare(b.Kind, a.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Package, b.Package), cmp.Compare(a.Product, b.Product)) < 0
}

// urgency is the place of a status without access. Revoked and expired share one: the later end decides.
func urgency(s Status) int {
	if s == Expired {
		s = Revoked
	}
	return slices.Index(withoutAccess, s)
}

// later compares two ends, of which zero is the latest.
func later(a, b time.Time) int {
	switch {
	case a.Equal(b):
		return 0
	case a.IsZero():
		return 1
	case b.IsZero():
		return -1
	}
	return a.Compare(b)
}
