package store

import (
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// action is something that not everybody may do.
type action int

const (
	// validatePurchases asks about codes: every key.
	validatePurchases action = iota
	// readWorkspace reads the account and the items: secret keys.
	readWorkspace
	// licensePurchases issues, moves and gives up the licenses of a purchase: whoever has its code.
	licensePurchases
	// manage is everything else: the operator.
	manage
)

// may tells whether an actor may do something. A publishable key, which is
// bound to an item, validates and nothing else.
func may(a people.Actor, what action) error {
	allowed := false
	switch a.Kind {
	case people.KindOperator:
		allowed = true
	case people.KindKey:
		allowed = what == validatePurchases || (what == readWorkspace && a.Secret)
	case people.KindBuyer:
		allowed = what == licensePurchases
	}
	if allowed {
		return nil
	}
	return fault.Forbidden("key_scope", "Invalid request")
}
