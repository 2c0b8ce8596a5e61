package people

import "github.com/countersign/countersign/internal/fault"

// action is something that not everybody may do.
type action int

const (
	// manage is what every administrator may do, on a page or at the command line.
	manage action = iota
	// ownAccount is about the user who acts.
	ownAccount
	// operate is for a caller with access to the data folder.
	operate
)

// may reports whether an actor may do something.
func may(a Actor, what action) error {
	user := a.Kind == KindUser && a.User > 0
	administrator := user && a.Administrator
	operator := a.Kind == KindOperator
	switch {
	case what == manage && (administrator || operator), what == ownAccount && user, what == operate && operator:
		return nil
	}
	return fault.Forbidden("not_allowed", "Not allowed. This needs a signed-in administrator or the operator")
}
