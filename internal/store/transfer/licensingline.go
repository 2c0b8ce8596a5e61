package transfer

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/storedb"
)

// licensingLine is an item's licensing in a line. What it does not name is as
// for a new item.
type licensingLine struct {
	RegularDomains  *int             `json:"regular_domains,omitempty"`
	ExtendedDomains *int             `json:"extended_domains,omitempty"`
	MovesAYear      *int             `json:"moves_a_year,omitempty"`
	MoveWaitHours   *int             `json:"move_wait_hours,omitempty"`
	Wildcard        bool             `json:"wildcard"`
	StagingHosts    countersign.List `json:"staging_hosts"`
}

// licensing is nil when a line says nothing of it.
func (l *licensingLine) licensing() *storedb.Licensing {
	if l == nil {
		return nil
	}
	out := storedb.DefaultLicensing()
	for to, from := range map[*int]*int{
		&out.RegularDomains: l.RegularDomains, &out.ExtendedDomains: l.ExtendedDomains,
		&out.MovesAYear: l.MovesAYear, &out.MoveWaitHours: l.MoveWaitHours,
	} {
		if from != nil {
			*to = *from
		}
	}
	out.Wildcard, out.StagingHosts = l.Wildcard, l.StagingHosts
	return &out
}

func lineOfLicensing(l storedb.Licensing) *licensingLine {
	return &licensingLine{&l.RegularDomains, &l.ExtendedDomains, &l.MovesAYear, &l.MoveWaitHours, l.Wildcard, l.StagingHosts}
}
