// Package access says who may do what in the store, and holds the gate that is closed
// while nobody may: the key file of the database.
package access

import (
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// Action is something that not everybody may do.
type Action int

const (
	// ValidatePurchases asks about codes: every key.
	ValidatePurchases Action = iota
	// ReadWorkspace reads the account and the items: secret keys.
	ReadWorkspace
	// LicensePurchases issues, moves and revokes the licenses of a purchase: whoever has its code.
	LicensePurchases
	// Manage is everything else: the operator.
	Manage
)

// May returns an error of kind Forbidden unless an actor may do something. A publishable key, which is
// bound to an item, validates and nothing else.
func May(a people.Actor, what Action) error {
	allowed := false
	switch a.Kind {
	case people.KindOperator:
		allowed = true
	case people.KindKey:
		allowed = what == ValidatePurchases || (what == ReadWorkspace && a.Secret)
	case people.KindBuyer:
		allowed = what == LicensePurchases
	}
	if allowed {
		return nil
	}
	return fault.Forbidden("key_scope", "Invalid request")
}
