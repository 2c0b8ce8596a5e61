package pages

import (
	"slices"
	"time"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
)

// event is one line of the timeline of a purchase.
type event struct {
	at   time.Time
	text string
}

// eventsOf is what happened to a purchase and its licenses, the newest first.
func eventsOf(p store.Purchase, licenses []licensing.License) []event {
	all := []event{{p.SoldAt.Time, "Sold"}}
	if p.State != store.StateActive && !p.StateAt.IsZero() {
		all = append(all, event{p.StateAt.Time, stateNames[p.State]})
	}
	for _, l := range licenses {
		domain := licensing.DomainOf(l.License).String()
		all = append(all, event{l.IssuedAt.Time, "License for " + domain + " issued"})
		if l.Ended != "" {
			all = append(all, event{l.EndedAt.Time, "License for " + domain + " ended: " + licenseEnds[l.Ended]})
		}
	}
	slices.SortStableFunc(all, func(a, b event) int { return b.at.Compare(a.at) })
	return all
}
