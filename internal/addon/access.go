package addon

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
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
	return &countersign.Error{
		Kind: countersign.KindForbidden, Code: "not_allowed",
		Message: "You may not do this. A program with the site's API key may read, change and publish settings; links and tokens are made at the command line",
	}
}

// notFound replaces the error of a missing row by what it means here.
func notFound(err error, meaning *countersign.Error) error {
	if errors.Is(err, sqldb.ErrNotFound) {
		return meaning
	}
	return err
}

func missing(code, message string) *countersign.Error {
	return &countersign.Error{Kind: countersign.KindNotFound, Code: code, Message: message}
}

func conflict(code, message string) *countersign.Error {
	return &countersign.Error{Kind: countersign.KindConflict, Code: code, Message: message}
}
