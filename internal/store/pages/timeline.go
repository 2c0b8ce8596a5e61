package pages

import (
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/media"
)

// event is one line of the timeline of a purchase.
type event struct {
	at   time.Time
	text string
}

// eventsOf is what happened to a purchase, its licenses and its download links, the newest first.
func eventsOf(p store.Purchase, licenses []licensing.License, links []media.Link) []event {
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
	for _, l := range links {
		all = append(all, event{l.CreatedAt.Time, fmt.Sprintf("Download link created by %s, valid for %s", l.CreatedBy, linkTime(l))})
		if !l.DownloadedAt.IsZero() {
			all = append(all, event{l.DownloadedAt.Time, "Downloaded by a link for the first time"})
		}
	}
	slices.SortStableFunc(all, func(a, b event) int { return b.at.Compare(a.at) })
	return all
}

// linkTime is for how long a download link is valid.
func linkTime(l media.Link) string {
	const day = 24 * time.Hour
	switch valid := l.ExpiresAt.Sub(l.CreatedAt.Time); {
	case valid == day:
		return "1 day"
	case valid%day == 0:
		return fmt.Sprintf("%d days", valid/day)
	default:
		return valid.String()
	}
}
