// Package access says who may do what in the store.
package access

import (
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// Permission is something that not every actor may do.
type Permission int

// The permissions. Those of a workspace are in the order of the roles that have them.
const (
	// ValidatePurchases asks about codes: every key.
	ValidatePurchases Permission = iota
	// ReadWorkspace reads the account and the items: secret keys.
	ReadWorkspace
	// LicensePurchases issues, moves and revokes the licenses of a purchase: whoever has
	// its code, and managers of its workspace.
	LicensePurchases
	// View reads everything in a workspace but the e-mail addresses of buyers: viewers.
	View
	// Manage also works on items, purchases, licenses and imports, and reads the e-mail
	// addresses of buyers: managers.
	Manage
	// Own also works on keys, members and settings: owners.
	Own
	// Administer is the store as a whole: administrators and the operator. They also have
	// every permission of every workspace.
	Administer
	// Operate works on what holds everything, such as its key file: the operator alone.
	Operate
)

// May returns an error of kind Forbidden unless an actor has a permission, in every
// workspace if it is one of a workspace. The permissions of members are those of
// [Workspace]. A publishable key, which is bound to an item, validates and nothing else.
func May(a people.Actor, what Permission) error {
	allowed := false
	switch a.Kind {
	case people.KindOperator:
		allowed = true
	case people.KindUser:
		allowed = isAdministrator(a) && what >= LicensePurchases && what != Operate
	case people.KindKey:
		allowed = what == ValidatePurchases || (what == ReadWorkspace && a.Secret)
	case people.KindBuyer:
		allowed = what == LicensePurchases
	}
	switch {
	case allowed:
		return nil
	case a.Kind == people.KindUser && what == Operate:
		return fault.Forbidden("not_allowed", "This needs access to the data folder")
	case a.Kind == people.KindUser:
		return fault.Forbidden("not_allowed", "This needs an administrator of the store")
	}
	return fault.Forbidden("key_scope", "Invalid request")
}

func isAdministrator(a people.Actor) bool {
	return a.Kind == people.KindUser && a.User > 0 && a.Administrator
}
