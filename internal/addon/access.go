package addon

import (
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// action is something that not everybody may do.
type action int

const (
	// manageSettings reads, changes and publishes settings and packages: users,
	// the operator, and programs that hold the site's own pair.
	manageSettings action = iota
	// manageSite is everything else: users and the operator.
	manageSite
	// operate makes links and tokens that open the site: the operator alone.
	operate
)

// may tells whether an actor may do something.
func may(a people.Actor, what action) error {
	allowed := false
	switch a.Kind {
	case people.KindOperator:
		allowed = true
	case people.KindUser:
		allowed = what != operate
	case people.KindKey:
		allowed = what == manageSettings && a.Secret
	}
	if allowed {
		return nil
	}
	return fault.Forbidden("not_allowed", "You may not do this. A program with the site's API key may read, change and publish settings")
}
