package storedb

import (
	"github.com/countersign/countersign"
)

// Licensing describes what the purchases of an item may be licensed for.
type Licensing struct {
	// RegularDomains and ExtendedDomains are how many domains a purchase of that
	// license type may have beside free ones.
	RegularDomains  int `json:"regular_domains"`
	ExtendedDomains int `json:"extended_domains"`
	// MovesAYear is how many times in 365 days a buyer may move a license, and
	// MoveWaitHours how long after the last time.
	MovesAYear    int `json:"moves_a_year"`
	MoveWaitHours int `json:"move_wait_hours"`
	// Wildcard lets a license start on hosts one level below its domain.
	Wildcard bool `json:"wildcard"`
	// StagingHosts are hosts that are free beside the test domains that always are.
	StagingHosts countersign.List `json:"staging_hosts"`
}

// DefaultLicensing is that of an item for which nothing was said; the migration
// has the same.
func DefaultLicensing() Licensing {
	return Licensing{RegularDomains: 1, ExtendedDomains: 1, MovesAYear: 3, MoveWaitHours: 24}
}

// Domains is how many domains a purchase of a license type may have.
func (l Licensing) Domains(licenseType string) int {
	if licenseType == countersign.LicenseExtended {
		return l.ExtendedDomains
	}
	return l.RegularDomains
}
