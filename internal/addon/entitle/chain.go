package entitle

import "github.com/countersign/countersign/internal/play"

// MaxChain is how many predecessors of a purchase are followed (1.7).
const MaxChain = 32

// Retires reports whether a purchase takes the place of the one that it names as its predecessor (1.7). One that is not
// paid does not: the old plan stays valid. Neither does one with a deferred replacement, because the old plan stays the
// current one until its renewal.
func Retires(s play.Subscription) bool {
	if s.LinkedToken == "" || s.State == play.Pending || s.State == play.PendingPurchaseCanceled {
		return false
	}
	for _, item := range s.Items {
		if item.Deferred != "" {
			return false
		}
	}
	return true
}
