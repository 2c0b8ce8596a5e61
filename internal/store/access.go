package store

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
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
	return &countersign.Error{Kind: countersign.KindForbidden, Code: "key_scope", Message: "Invalid request"}
}

// notFound replaces the error of a missing row by what it means here.
func notFound(err, meaning error) error {
	if errors.Is(err, sqldb.ErrNotFound) {
		return meaning
	}
	return err
}

// missing says which thing was not found, for the operator.
func missing(what, code string) *countersign.Error {
	return &countersign.Error{Kind: countersign.KindNotFound, Code: code, Message: what}
}

// invalid says what is wrong with something the operator or a file gave.
func invalid(message string) *countersign.Error {
	return &countersign.Error{Kind: countersign.KindInvalid, Code: "invalid", Message: message}
}
